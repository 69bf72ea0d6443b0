import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { type SandboxProcess, startProcess } from './start-process';
import { type RunResult, runHandler } from './run-handler';
import { buildSandbox } from '../../testing/start-test-executor';

const isObservable = process.platform === 'linux' && process.getuid?.() === 0;
/** Far longer than a run takes on a busy machine. */
const generousMs = 50_000;

const ownPriority = getPriority();
let sandbox: Awaited<ReturnType<typeof buildSandbox>>;
let one: SandboxProcess;
beforeAll(async () => {
  // Priorities are relative to this process, and below the lowest one there is no other.
  if (isObservable) setPriority(0);
  sandbox = await buildSandbox();
});
beforeEach(async () => {
  one = await startProcess({ entry: sandbox.entry, uid: 65_534 });
});
afterEach(() => one.kill());
afterAll(async () => {
  if (isObservable) setPriority(ownPriority);
  await sandbox.remove();
});

interface RunEnd {
  kind: RunResult['kind'];
  /** Whether the process can serve the next call. */
  isKept: boolean;
}

/** Runs a handler. `answer`: the result of its tool calls. */
async function run(
  code: string,
  {
    answer = () => false,
    timeoutMs = generousMs,
  }: { answer?: () => boolean; timeoutMs?: number } = {},
): Promise<RunEnd> {
  let isKept = false;
  const acquired = { process: one, release: () => void (isKept = true), discard: () => undefined };
  const input = { code, args: '{}', context: '{}', timeoutMs };
  const { kind } = await runHandler(acquired, input, async () => ({
    value: { ok: true, result: answer() },
  }));
  return { kind, isKept };
}

if (isObservable) {
  it('lowers the priority of a run that computes for long, and restores it afterwards', async () => {
    // Computes in pieces until its priority has been lowered.
    const code = 'while (!(await parley.test.isLowered({}))) for (let i = 0; i < 300000; i++);';
    const answer = () => getPriority(one.pid) === 15;
    expect(await run(code, { answer })).toEqual({ kind: 'result', isKept: true });
    expect(getPriority(one.pid)).toBe(0);
  });
}

it('the engine itself ends a run at its time limit, and the process is kept with its priority', async () => {
  const before = getPriority(one.pid);
  // Holds the timer after which the service would kill the process.
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'clearInterval', 'performance', 'Date'],
  });
  try {
    expect(await run('for (;;);', { timeoutMs: 500 })).toEqual({ kind: 'timeout', isKept: true });
  } finally {
    jest.useRealTimers();
  }
  expect(getPriority(one.pid)).toBe(before);
});

/** The processes that this one has started. */
function children(): number[] {
  const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ');
  return pids.map(Number);
}

if (isObservable) {
  it('lowers the priority of a process that starts while others are free', async () => {
    const before = children();
    const starting = startProcess({ entry: sandbox.entry, uid: 65_534, isUrgent: false });
    const started = children().filter((pid) => !before.includes(pid));
    expect(started.map((pid) => getPriority(pid))).toEqual([5]);
    const ready = await starting;
    expect([ready.pid, getPriority(ready.pid)]).toEqual([started[0], 0]);
    ready.kill();
  });
}

it('does not lower the priority of a run that waits', async () => {
  const before = getPriority(one.pid);
  let highest = before;
  const check = setInterval(() => void (highest = Math.max(highest, getPriority(one.pid))), 10);
  const code = 'for (let i = 0; i < 20; i++) await new Promise((r) => setTimeout(r, 20)); return 1';
  expect(await run(code)).toEqual({ kind: 'result', isKept: true });
  clearInterval(check);
  expect([highest, getPriority(one.pid)]).toEqual([before, before]);
});
