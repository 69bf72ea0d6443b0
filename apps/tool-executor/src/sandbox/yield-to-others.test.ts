import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { type SandboxProcess, startProcess } from './start-process';
import { runHandler } from './run-handler';
import { buildSandbox } from '../executor-under-test';

// Other work on the machine can make one attempt late; the bar stays, and a real regression fails every attempt.
jest.retryTimes(3, { logErrorsBeforeRetry: true });

let sandbox: Awaited<ReturnType<typeof buildSandbox>>;
let one: SandboxProcess;
beforeAll(async () => {
  sandbox = await buildSandbox();
});
beforeEach(async () => {
  one = await startProcess({ entry: sandbox.entry, uid: 65_534 });
});
afterEach(() => one.kill());
afterAll(() => sandbox.remove());

/** Runs a handler and gives the lowest precedence that its process had meanwhile. */
async function lowestWhile(code: string): Promise<{ during: number; after: number; isKept: boolean }> {
  let during = 0;
  let isKept = false;
  const look = setInterval(() => void (during = Math.max(during, getPriority(one.pid))), 10);
  const lease = { process: one, release: () => void (isKept = true), discard: () => undefined };
  const input = { code, args: '{}', context: '{}', timeoutMs: 3000 };
  await runHandler(lease, input, async () => ({ value: { ok: false, error: '', errorType: '' } }));
  clearInterval(look);
  return { during, after: getPriority(one.pid), isKept };
}

/** Of a process that may just have ended. */
function priorityOf(pid: number): number {
  try {
    return getPriority(pid);
  } catch {
    return 0;
  }
}

const isObservable = process.platform === 'linux' && process.getuid?.() === 0;

if (isObservable) {
  it('gives a run that only computes less precedence, and its process the old one afterwards', async () => {
    expect(await lowestWhile('for (;;);')).toEqual({ during: 15, after: 0, isKept: true });
  });
}

if (isObservable) {
  it('lets others go first while a process starts beside free ones', async () => {
    let during = 0;
    const look = setInterval(() => {
      const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
      for (const pid of children) if (Number(pid) !== one.pid) during = Math.max(during, priorityOf(Number(pid)));
    }, 5);
    const ready = await startProcess({ entry: sandbox.entry, uid: 65_534, isUrgent: false });
    clearInterval(look);
    expect([during, getPriority(ready.pid)]).toEqual([5, 0]);
    ready.kill();
  });
}

it('leaves a run alone that waits', async () => {
  const waits = 'for (let i = 0; i < 20; i++) await new Promise((r) => setTimeout(r, 20)); return 1';
  expect(await lowestWhile(waits)).toEqual({ during: 0, after: 0, isKept: true });
});
