import { setTimeout as sleep } from 'node:timers/promises';
import { ParleyClient } from '@parley/client';
import { type ManageClient, createManageClient } from '@parley/client/manage';
import type { Address } from '../environment';
import type { Execution, ToolStep } from './format-execution';

const pollMs = 250;
/** The clock of the server may differ by this time. */
const toleranceMs = 2_000;
const comparedExecutions = 10;

export interface CallListener {
  started(name: string): void;
  ended(step: ToolStep): void;
}

/**
 * Reports the tool calls of a message while it is answered, if the key has the permission `manage`,
 * as that of `npm start`. The API has no stream of them, so the execution is read repeatedly.
 * @returns a function that ends this, and returns the number of ended calls that were reported for
 *   each tool. It does not
 * wait for the server.
 */
export function followCalls(
  address: Address,
  message: string,
  listener: CallListener,
): () => Map<string, number> {
  const abort = new AbortController();
  const reported = new Map<string, number>();
  void poll(address, message, abort.signal, {
    started: listener.started,
    ended(step) {
      reported.set(step.name, (reported.get(step.name) ?? 0) + 1);
      listener.ended(step);
    },
  }).catch(() => {}); // the response has the calls too
  return () => {
    abort.abort();
    return reported;
  };
}

async function poll(
  address: Address,
  message: string,
  signal: AbortSignal,
  listener: CallListener,
): Promise<void> {
  const since = Date.now() - toleranceMs;
  await sleep(pollMs, undefined, { signal });
  const client = new ParleyClient({ apiKey: address.key, baseUrl: address.url, maxRetries: 0 });
  const manage = createManageClient(client);
  const seen = new Map<string, ToolStep['status']>();
  for (let id: string | undefined; ; await sleep(pollMs, undefined, { signal })) {
    id ??= await findRunning(manage, message, since, signal);
    if (id !== undefined) report(await manage.getExecution({ id }, { signal }), seen, listener);
  }
}

async function findRunning(
  manage: ManageClient,
  message: string,
  since: number,
  signal: AbortSignal,
) {
  const page = { status: 'running', limit: comparedExecutions, since } as const;
  const { data } = await manage.listExecutions(page, { signal });
  return data.find(({ input }) => message.startsWith(input))?.id;
}

function report(
  execution: Execution,
  seen: Map<string, ToolStep['status']>,
  listener: CallListener,
): void {
  for (const step of execution.steps) {
    if (step.type !== 'tool' || step.status === 'unknown' || seen.get(step.callId) === step.status)
      continue;
    seen.set(step.callId, step.status);
    if (step.status === 'running') listener.started(step.name);
    else listener.ended(step);
  }
}
