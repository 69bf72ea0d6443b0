import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { type SchemaAnswer, type SchemaRequest, threadName } from './check-schema';
import { threadProgram } from './thread-program';

/**
 * An organization takes at most two of them (createSlots), so others wait for one check at most.
 */
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
  // A thread can end after its answer, because it collects its garbage too late.
  thread.on('exit', () => {
    if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1);
  });
  return thread;
}

/**
 * Compiles or checks an untrusted schema in a thread of its own, which ends at the time limit: no
 * schema can stop the thread that serves requests. Resolves with null when it is too complex, and
 * with `busy` when no thread became free.
 */
export async function askSchemaThread(organizationId: string, request: SchemaRequest) {
  const release = await slots.acquire(organizationId, new AbortController().signal, waitLimitMs);
  if (release === null) {
    reportRefusal('schema_threads_busy');
    return 'busy';
  }
  try {
    const used = idle.pop();
    let thread = used ?? startThread();
    let answered = await ask(thread, request);
    if (answered === 'failed' && used !== undefined) {
      // The memory may have been taken by earlier checks, of another organization.
      await thread.terminate();
      thread = startThread();
      answered = await ask(thread, request);
    }
    if (answered === 'failed' || answered === 'too_slow') {
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

/** `failed`: the thread has ended, because it ran out of memory. */
async function ask(
  thread: Worker,
  request: SchemaRequest,
): Promise<SchemaAnswer | null | 'too_slow' | 'failed'> {
  const signal = AbortSignal.timeout(checkLimitMs);
  thread.ref();
  try {
    thread.postMessage(request);
    const [answered] = (await once(thread, 'message', { signal })) as [SchemaAnswer | null];
    return answered;
  } catch {
    return signal.aborted ? 'too_slow' : 'failed';
  } finally {
    // An idle thread does not keep the process running.
    thread.unref();
  }
}
