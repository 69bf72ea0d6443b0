import { type RetriedMessage, retryMessage } from '@parley/channels';
import { Failure } from '../failure';
import { type ScopeOptions, withScope } from '../scope';
import { print, printJson } from '../terminal';

interface MessagesRetryOptions extends ScopeOptions {
  anyway?: boolean;
  json?: boolean;
}

/** `parley messages retry`: the worker takes them up within seconds; status 1 when one of them cannot be. */
export async function runMessagesRetry(
  ids: string[],
  { anyway = false, json, ...options }: MessagesRetryOptions,
): Promise<void> {
  const results = await withScope(options, async (db, scope) => {
    const tried: { message: string; result: RetriedMessage }[] = [];
    for (const message of new Set(ids))
      tried.push({ message, result: await retryMessage(db, scope, message, { anyway }) });
    return tried;
  });
  const problems = results.flatMap(({ message, result }) => (result.ok ? [] : [`${message}: ${problemOf(result)}`]));
  const retried = results.flatMap(({ message, result }) => (result.ok ? [{ message, retriedAs: result.id }] : []));
  for (const { message, result } of json ? [] : results) {
    if (!result.ok) continue;
    const verb = result.direction === 'inbound' ? 'answered' : 'sent';
    print(`${message} is ${verb} once more${result.id === message ? '' : `, as ${result.id}`}.`);
  }
  if (problems.length > 0) throw new Failure(problems.join('\n'), undefined, { retried });
  if (json) printJson({ retried });
}

function problemOf(result: Extract<RetriedMessage, { ok: false }>): string {
  switch (result.reason) {
    case 'not_found':
      return 'no such message here';
    case 'not_failed':
      return `${result.id} is ${result.status}, only what has failed is tried again`;
    case 'in_doubt':
      return 'the customer may have got it; --anyway sends it all the same';
    case 'no_sender':
      return result.message;
  }
}
