import { type RetriedMessage, retryMessage } from '@parley/channels';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

/** `parley messages retry`: queues messages for the worker; status 1 when one of them cannot be retried. */
export async function runMessagesRetry(
  ids: string[],
  { anyway = false, json, ...options }: ScopeOptions & { anyway?: boolean },
): Promise<void> {
  const results = await withScope(options, async (db, scope) => {
    const attempted: { message: string; result: RetriedMessage }[] = [];
    for (const message of new Set(ids))
      attempted.push({ message, result: await retryMessage(db, scope, message, { anyway }) });
    return attempted;
  });
  const problems = results.flatMap(({ message, result }) => (result.ok ? [] : [`${message}: ${problemOf(result)}`]));
  const retried = results.flatMap(({ message, result }) => (result.ok ? [{ message, retriedAs: result.id }] : []));
  for (const { message, result } of json ? [] : results) {
    if (!result.ok) continue;
    const action = result.direction === 'inbound' ? 'answered' : 'sent';
    print(`${message} will be ${action} again${result.id === message ? '' : ` as ${result.id}`}.`);
  }
  if (problems.length > 0) throw new Failure(problems.join('\n'), undefined, { retried });
  if (json) printJson({ retried });
}

function problemOf(result: Extract<RetriedMessage, { ok: false }>): string {
  switch (result.reason) {
    case 'not_found':
      return 'not found in this environment';
    case 'not_failed':
      return `${result.id} is ${result.status}. Only failed messages can be retried`;
    case 'from_phone':
      return 'was sent from the phone itself. Send it again there';
    case 'in_doubt':
      return 'may have been delivered. Use --anyway to send it again';
    case 'no_sender':
      return result.message;
  }
}
