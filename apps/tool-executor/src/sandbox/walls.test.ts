import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { makeTemporaryFolder } from '@parley/embedded';
import { buildSandbox } from '../executor-under-test';
import { createFrameReader, encodeFrame } from './frames';
import type { FromSandbox } from './protocol';
import { type RunResult, runHandler } from './run-handler';
import { type SandboxProcess, startProcess } from './start-process';

// Other work on the machine can make one attempt late; the bar stays, and a real regression fails every attempt.
jest.retryTimes(3, { logErrorsBeforeRetry: true });

/*
 * The second wall alone: a process whose engine is assumed to be broken out of does in Node what it likes
 * (escapes/planted-escape.ts), and must reach nothing. The same attempts in a process without the wall succeed.
 */

const isLinux = process.platform === 'linux';
const nobody = 65_534;
/** Open to everybody: what keeps a file from being written there is the wall. */
const folder = makeTemporaryFolder('planted');
chmodSync(folder, 0o777);
let attemptsMade = 0;
let sandbox: Awaited<ReturnType<typeof buildSandbox>>;
let entry: string;
let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  sandbox = await buildSandbox(join(__dirname, 'escapes', 'planted-escape.ts'));
  entry = sandbox.entry;
  server = createServer((_request, response) => response.end('inside')).on('connection', () => connections++);
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
  const one = await startProcess({ entry, uid: nobody });
  started.push(one);
  return one;
}

function attempt(process: SandboxProcess, name: string, argument: string, timeoutMs = 1500): Promise<RunResult> {
  const lease = { process, release: () => undefined, discard: () => process.kill() };
  const run = { code: name, args: JSON.stringify(argument), context: '{}', timeoutMs };
  return runHandler(lease, run, async () => ({ value: { ok: false } }));
}

/** Without any wall: a plain Node process with this process's rights and environment. */
function attemptInTheOpen(name: string, argument: string): Promise<string> {
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
            head: { type: 'run', code: name, args: JSON.stringify(argument), context: '{}', timeoutMs: 1 },
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

const reaches: [name: string, openly: 'reached' | 'either'][] = [
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

/** Held by the kernel's limits, which only Linux has a way to put on from outside. */
const byKernel = / a port$|HTTP|path|datagram|name|memory/;

describe('a process whose first wall has fallen', () => {
  it.each(reaches.filter(([name]) => isLinux || !byKernel.test(name)))('cannot %s', async (name) => {
    const argument = argumentOf(name);
    const outcome = await attempt(await start(), name, argument);
    // Stopped with an error, or dead: the kernel's limits end a process that needs what it may not have.
    expect(JSON.stringify(outcome)).not.toContain('reached');
    expect([existsSync(argument), existsSync(`${argument}.sock`), existsSync(`${argument}.json`)]).toEqual([
      false,
      false,
      false,
    ]);
    expect(connections).toBe(0);
  });

  it.each(reaches.filter(([, openly]) => openly === 'reached'))('could %s without the wall (control)', async (name) => {
    expect(await attemptInTheOpen(name, argumentOf(name))).toContain('reached');
  });

  it.each([
    'answer with garbage',
    'announce a huge frame',
    'answer with a wrong shape',
    'answer with text that is no JSON',
    'answer too much',
    'ask for something unknown',
    'ask without end',
    'say it is ready again',
    'end itself',
  ])('cannot harm the service when it wants to %s: the call fails and the process is gone', async (name) => {
    const one = await start();
    const gone = new Promise<void>((resolve) => one.onExit(resolve));
    expect(await attempt(one, name, '')).toMatchObject({
      kind: 'error',
      error: { message: expect.stringContaining('ended') },
    });
    await gone;
  });

  it.each(['say nothing', 'never come back'])('is killed when it wants to %s', async (name) => {
    const one = await start();
    const gone = new Promise<void>((resolve) => one.onExit(resolve));
    const startedAt = performance.now();
    expect(await attempt(one, name, '', 200)).toEqual({ kind: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    await gone;
  });
});

if (isLinux) {
  it('runs as nobody in particular, under limits that the kernel keeps', async () => {
    const one = await start();
    expect(one.isLimited).toBe(true);
    const status = readFileSync(`/proc/${one.pid}/status`, 'utf8');
    const limits = readFileSync(`/proc/${one.pid}/limits`, 'utf8');
    const uid = process.getuid?.() === 0 ? nobody : process.getuid?.();
    expect(status).toMatch(new RegExp(`^Uid:\\t${uid}\\t${uid}\\t${uid}\\t${uid}$`, 'm'));
    if (process.getuid?.() === 0) expect(status).toMatch(/^CapEff:\t0+$/m);
    for (const limit of ['Max open files', 'Max processes', 'Max file size', 'Max core file size']) {
      expect(limits).toMatch(new RegExp(`^${limit} +0 +0 `, 'm'));
    }
    expect(limits).toMatch(/^Max data size +\d+ +\d+ /m);
  });
}
