import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { type SchemaAnswer, type SchemaRequest, threadName } from './check-schema';
import { threadProgram } from './thread-program';

/** An organization takes at most two of them (createSlots), so others wait for one check at most. */
const maxThreads = 3;
/** Time of a check, the compilation of its schema included. */
const checkLimitMs = 2_500;
/** Time that a check waits for a thread. */
const waitLimitMs = 10_000;
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 16 };

const slots = createSlots({ total: maxThreads });
const idle: Worker[] = [];

function startThread(): Worker {
  const options = { workerData: threadName, resourceLimits, execArgv: ['--no-warnings'] };
  const thread =
    'file' in threadProgram
      ? new Worker(threadProgram.file, options)
      : new Worker(threadProgram.text, { ...options, eval: true });
  // `ask` reports the error of a check.
  thread.on('error', () => {});
  return thread;
}

/**
 * Compiles or checks an untrusted schema in a thread of its own, which ends at the time limit: no schema can stop the
 * thread that serves requests. Resolves with null when it is too complex, and with `busy` when no thread became free.
 */
export async function askSchemaThread(organizationId: string, request: SchemaRequest) {
  const release = await slots.acquire(organizationId, new AbortController().signal, waitLimitMs);
  if (release === null) {
    reportRefusal('schema_threads_busy');
    return 'busy';
  }
  const thread = idle.pop() ?? startThread();
  try {
    const answered = await ask(thread, request);
    if (answered === 'ended') {
      reportRefusal('schema_too_complex');
      await thread.terminate();
      return null;
    }
    idle.push(thread);
    return answered;
  } finally {
    release();
  }
}

/** `ended`: the thread ran out of time or memory. */
async function ask(thread: Worker, request: SchemaRequest): Promise<SchemaAnswer | null | 'ended'> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), checkLimitMs);
  thread.ref();
  try {
    thread.postMessage(request);
    const [answered] = (await once(thread, 'message', { signal: limit.signal })) as [SchemaAnswer | null];
    return answered;
  } catch {
    // The time limit, or an error of the thread.
    return 'ended';
  } finally {
    clearTimeout(timer);
    // An idle thread does not keep the process running.
    thread.unref();
  }
}
