import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { makeTemporaryFolder } from '@parley/embedded';
import { buildSandbox } from '../../testing/start-test-executor';
import { createFrameReader, encodeFrame } from './frames';
import type { FromSandbox } from './protocol';
import { type RunResult, runHandler } from './run-handler';
import { type SandboxProcess, startProcess } from './start-process';

/*
 * Tests the second barrier alone. In these processes (testing/escapes/planted-escape.ts) the code
 * has already escaped from the engine and runs in Node. It must reach nothing. In a process without
 * the barrier the same attempts succeed.
 */

const isLinux = process.platform === 'linux';
const sandboxUid = 65_534;
/**
 * Far longer than an attempt takes on a busy machine: one that is cut off has not
 * been seen to fail.
 */
const generousMs = 50_000;
/** Writable for every user, so that only the barrier can prevent a file in it. */
const folder = makeTemporaryFolder('planted');
chmodSync(folder, 0o777);
let attemptsMade = 0;
let sandbox: Awaited<ReturnType<typeof buildSandbox>>;
let entry: string;
let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  sandbox = await buildSandbox(join(__dirname, '../../testing/escapes/planted-escape.ts'));
  entry = sandbox.entry;
  server = createServer((_request, response) => response.end('inside')).on(
    'connection',
    () => connections++,
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
  await sandbox.remove();
  rmSync(folder, { recursive: true });
});
beforeEach(() => void (connections = 0));

const started: SandboxProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.kill();
});

async function start(): Promise<SandboxProcess> {
  const one = await startProcess({ entry, uid: sandboxUid });
  started.push(one);
  return one;
}

function attempt(
  process: SandboxProcess,
  name: string,
  argument: string,
  timeoutMs = generousMs,
): Promise<RunResult> {
  const acquired = { process, release: () => undefined, discard: () => process.kill() };
  const run = { code: name, args: JSON.stringify(argument), context: '{}', timeoutMs };
  return runHandler(acquired, run, async () => ({ value: { ok: false } }));
}

/** Makes the attempt in a plain Node process, with the rights and environment of the test. */
function attemptWithoutBarrier(name: string, argument: string): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, ['--no-warnings', entry], {
    env: { ...process.env, PARLEY_PLANTED_SECRET: 'planted' },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const pipe = child.stdio[3] as Duplex;
  return new Promise((resolve) => {
    const read = createFrameReader<FromSandbox>(({ head }) => {
      if (head.type === 'loaded') {
        pipe.write(
          encodeFrame({
            head: {
              type: 'run',
              code: name,
              args: JSON.stringify(argument),
              context: '{}',
              timeoutMs: 1,
            },
          }),
        );
      } else if (head.type === 'done') {
        resolve(String((head.outcome as { result: string }).result));
        child.kill('SIGKILL');
      }
    });
    pipe.on('data', read);
  });
}

const argumentOf = (name: string): string =>
  / a port$|HTTP|global/.test(name) ? String(port) : join(folder, `file${attemptsMade++}`);

const attempts: [name: string, control: 'reached' | 'either'][] = [
  ['read a file', 'reached'],
  ['read the environment of the service', 'reached'],
  ['read its own bundle', 'reached'],
  ['list a directory', 'reached'],
  ['open a device', 'reached'],
  ['write a file', 'reached'],
  ['run a program', 'reached'],
  ['spawn a program', 'reached'],
  ['start a thread', 'reached'],
  ['connect to a port', 'reached'],
  ['make an HTTP request', 'reached'],
  ['fetch through the global', 'reached'],
  ['listen on a port', 'reached'],
  ['listen on a path', 'reached'],
  ['send a datagram', 'reached'],
  ['ask for a name', 'reached'],
  ['read the environment', 'reached'],
  ['signal the service', 'reached'],
  ['become root again', 'either'],
  ['make code from a string', 'reached'],
  ['turn that off', 'reached'],
  ['open the inspector', 'reached'],
  ['load an addon', 'either'],
  ['use an internal binding', 'reached'],
  ['write a report', 'reached'],
  ['take much memory', 'reached'],
];

/** Prevented by the kernel's limits, which can be set from outside only on Linux. */
const byKernel = / a port$|HTTP|path|datagram|name|memory/;

describe('code that has escaped from the engine', () => {
  it.each(attempts.filter(([name]) => isLinux || !byKernel.test(name)))(
    'cannot %s',
    async (name) => {
      const argument = argumentOf(name);
      const outcome = await attempt(await start(), name, argument);
      // It fails with an error, or the kernel ends the process.
      expect(['result', 'error']).toContain(outcome.kind);
      expect(JSON.stringify(outcome)).not.toContain('reached');
      expect([
        existsSync(argument),
        existsSync(`${argument}.sock`),
        existsSync(`${argument}.json`),
      ]).toEqual([false, false, false]);
      expect(connections).toBe(0);
    },
  );

  it.each(attempts.filter(([, control]) => control === 'reached'))(
    'can %s without the barrier (control)',
    async (name) => {
      expect(await attemptWithoutBarrier(name, argumentOf(name))).toContain('reached');
    },
  );

  it.each([
    'answer with garbage',
    'announce a huge frame',
    'answer with a wrong shape',
    'answer with text that is not JSON',
    'answer too much',
    'ask for something unknown',
    'ask without end',
    'report that it is ready again',
    'end itself',
  ])(
    'cannot harm the service when it tries to %s: the call fails and the process ends',
    async (name) => {
      const one = await start();
      const ended = new Promise<void>((resolve) => one.onExit(resolve));
      expect(await attempt(one, name, '')).toMatchObject({
        kind: 'error',
        error: { message: expect.stringContaining('ended') },
      });
      await ended;
    },
  );

  it.each(['send nothing', 'loop forever'])(
    'is killed 150 ms after its limit when it tries to %s',
    async (name) => {
      const one = await start();
      const ended = new Promise<void>((resolve) => one.onExit(resolve));
      // Only the timers of the service are held; the process runs.
      jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
      const kill = jest.spyOn(one, 'kill');
      try {
        const outcome = attempt(one, name, '', 200);
        jest.advanceTimersByTime(349);
        expect(kill).not.toHaveBeenCalled();
        jest.advanceTimersByTime(1);
        expect(kill).toHaveBeenCalledTimes(1);
        expect(await outcome).toEqual({ kind: 'timeout' });
      } finally {
        jest.useRealTimers();
      }
      await ended;
    },
  );
});

if (isLinux) {
  it('runs as an unprivileged user, under limits of the kernel', async () => {
    const one = await start();
    expect(one.isLimited).toBe(true);
    const status = readFileSync(`/proc/${one.pid}/status`, 'utf8');
    const limits = readFileSync(`/proc/${one.pid}/limits`, 'utf8');
    const uid = process.getuid?.() === 0 ? sandboxUid : process.getuid?.();
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'));
    if (process.getuid?.() === 0) expect(status).toMatch(/^CapEff:\t0+$/m);
    for (const limit of [
      'Max open files',
      'Max processes',
      'Max file size',
      'Max core file size',
    ]) {
      expect(limits).toMatch(new RegExp(`^${limit} +0 +0 `, 'm'));
    }
    expect(limits).toMatch(/^Max data size +\d+ +\d+ /m);
  });
}
