import { setTimeout as sleep } from 'node:timers/promises';
import { type Execution, findExecution, listExecutions } from '@parley/agents';
import type { Scope } from '@parley/contracts';
import { type Db, createDb } from '@parley/db';
import { createIdentify } from '@parley/identity';
import { databaseUrl } from '../environment';
import { type ToolStep, stepsOf } from './steps';

const pollMs = 150;
/** The clock of the database may differ by this time. */
const toleranceMs = 2_000;
const comparedExecutions = 10;

export interface CallListener {
  started(name: string): void;
  ended(step: ToolStep): void;
}

/**
 * Reports the tool calls of a message while it is answered, if the database that has the key can be reached, as with
 * `npm start`. The API has no stream, so the stored calls are read repeatedly. Without the database nothing is reported.
 * @returns a function that ends this, and returns the number of ended calls that were reported for each tool. It does not
 * wait for the database, which may be unreachable.
 */
export function followCalls(key: string, message: string, listener: CallListener): () => Map<string, number> {
  const abort = new AbortController();
  const reported = new Map<string, number>();
  void poll(key, message, abort.signal, {
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

async function poll(key: string, message: string, signal: AbortSignal, listener: CallListener): Promise<void> {
  const sinceMs = Date.now() - toleranceMs;
  await sleep(pollMs, undefined, { signal });
  const db = createDb({ databaseUrl: databaseUrl(), poolSize: 1, applicationName: 'parley-cli' });
  try {
    const scope = await createIdentify(db)({ headers: { authorization: `Bearer ${key}` } });
    const seen = new Map<string, ToolStep['status']>();
    for (let id: string | undefined; scope !== null; await sleep(pollMs, undefined, { signal })) {
      id ??= await findRunning(db, scope, message, sinceMs);
      const execution = id === undefined ? null : await findExecution(db, scope, id);
      if (execution !== null && !signal.aborted) report(execution, seen, listener);
    }
  } finally {
    await db.close();
  }
}

async function findRunning(db: Db, scope: Scope, message: string, sinceMs: number): Promise<string | undefined> {
  const { items } = await listExecutions(db, scope, { status: 'running', limit: comparedExecutions, before: null });
  return items.find(({ input, createdAt }) => createdAt.getTime() >= sinceMs && message.startsWith(input))?.id;
}

function report(execution: Execution, seen: Map<string, ToolStep['status']>, listener: CallListener): void {
  for (const step of stepsOf(execution)) {
    if (step.kind !== 'tool' || step.status === 'unknown' || seen.get(step.callId) === step.status) continue;
    seen.set(step.callId, step.status);
    if (step.status === 'running') listener.started(step.name);
    else listener.ended(step);
  }
}
