import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { type SandboxProcess, startProcess } from './start-process';
import { runHandler } from './run-handler';
import { buildSandbox } from '../../testing/start-test-executor';

// A busy machine can delay one attempt. The limits stay the same, and a real regression fails every attempt.
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

/** Runs a handler and returns the highest nice value that its process had during the run. */
async function niceValuesOf(code: string): Promise<{ during: number; after: number; isKept: boolean }> {
  let during = 0;
  let isKept = false;
  const check = setInterval(() => void (during = Math.max(during, getPriority(one.pid))), 10);
  const acquired = { process: one, release: () => void (isKept = true), discard: () => undefined };
  const input = { code, args: '{}', context: '{}', timeoutMs: 3000 };
  await runHandler(acquired, input, async () => ({ value: { ok: false, error: '', errorType: '' } }));
  clearInterval(check);
  return { during, after: getPriority(one.pid), isKept };
}

/** Returns 0 when the process has ended. */
function priorityOf(pid: number): number {
  try {
    return getPriority(pid);
  } catch {
    return 0;
  }
}

const isObservable = process.platform === 'linux' && process.getuid?.() === 0;

if (isObservable) {
  it('lowers the priority of a run that computes for long, and restores it afterwards', async () => {
    expect(await niceValuesOf('for (;;);')).toEqual({ during: 15, after: 0, isKept: true });
  });
}

if (isObservable) {
  it('lowers the priority of a process that starts while others are free', async () => {
    let during = 0;
    const check = setInterval(() => {
      const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ');
      for (const pid of children) if (Number(pid) !== one.pid) during = Math.max(during, priorityOf(Number(pid)));
    }, 5);
    const ready = await startProcess({ entry: sandbox.entry, uid: 65_534, isUrgent: false });
    clearInterval(check);
    expect([during, getPriority(ready.pid)]).toEqual([5, 0]);
    ready.kill();
  });
}

it('does not lower the priority of a run that waits', async () => {
  const code = 'for (let i = 0; i < 20; i++) await new Promise((r) => setTimeout(r, 20)); return 1';
  expect(await niceValuesOf(code)).toEqual({ during: 0, after: 0, isKept: true });
});
