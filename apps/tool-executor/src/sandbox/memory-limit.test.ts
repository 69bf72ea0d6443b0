import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import { until } from '@parley/testing';
import { type TestExecutor, listen, startTestExecutor } from '../../testing/start-test-executor';

/*
 * The memory limit of a handler as it is seen from outside: by the answer, by the memory of the
 * processes, and by the call that comes next.
 */

const memoryExceeded = 'The handler exceeded its memory limit of 64 MiB';
/**
 * An idle process has about 28 MiB of its own; the largest figure measured with the programs
 * below was 132 MiB.
 */
const maxProcessMiB = 160;

let service: TestExecutor;
let server: Server;
let requests = 0;
beforeAll(async () => {
  server = createServer((_request, response) => {
    requests++;
    response.end('ok');
  });
  const address = await listen(server);
  service = await startTestExecutor({
    minProcesses: 1,
    maxProcesses: 1,
    queueTimeoutMs: 30_000,
    allowedPrivateHosts: [new URL(address).host],
  });
});
afterAll(async () => {
  await service.close();
  server.close();
});

/** Children of this process whose command line has the entry of the sandbox. */
const sandboxes = (): number[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes('sandbox-process.cjs'))
    .map(Number);
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

/**
 * Runs a program and measures the largest anonymous memory of a sandbox process during it, in MiB.
 */
async function runMeasured(code: string) {
  let peakMiB = 0;
  const sample = () => {
    for (const pid of sandboxes()) {
      const kib = Number(/RssAnon:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
      peakMiB = Math.max(peakMiB, kib / 1024);
    }
  };
  const timer = setInterval(sample, 5);
  const { status, body } = await service.run(code, { timeoutMs: 30_000 });
  clearInterval(timer);
  return { status, body, peakMiB };
}

const hoards: [name: string, code: string][] = [
  [
    'eight arrays of 30 MiB',
    'const a = []; for (let i = 0; i < 8; i++) a.push(new Uint8Array(30 << 20).fill(1)); return 1',
  ],
  [
    'array buffers',
    'const a = []; for (let i = 0; i < 8; i++) a.push(new ArrayBuffer(30 << 20)); return 1',
  ],
  [
    'small typed arrays',
    'const a = []; for (let i = 0; i < 2000; i++) a.push(new Uint8Array(1e5).fill(1)); return 1',
  ],
  ['strings', 'const a = []; for (let i = 0; i < 300; i++) a.push("x".repeat(1e6) + i); return 1'],
  ['objects', 'const a = []; for (;;) a.push({})'],
  ['objects in a global', 'globalThis.a = []; for (;;) globalThis.a.push({})'],
  ['a Map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })'],
  [
    'a Map in a global',
    'globalThis.m = new Map(); for (let i = 0; ; i++) globalThis.m.set(i, { i })',
  ],
  ['a Set', 'const s = new Set(); for (let i = 0; ; i++) s.add(i)'],
  ['closures', 'let f = () => 0; for (;;) { const g = f; f = () => g }'],
  ['promises', 'const a = []; for (;;) a.push(new Promise(() => {}))'],
  [
    'decoded text',
    'const b = new Uint8Array(2e6).fill(1); const a = []; for (;;) a.push(new TextDecoder().decode(b))',
  ],
];

it.each(hoards)(
  '%s cannot exceed the limit together, and the next call is not affected',
  async (_name, code) => {
    const { status, body, peakMiB } = await runMeasured(code);
    expect({ status, error: body.error }).toEqual({ status: 200, error: memoryExceeded });
    expect(Math.round(peakMiB)).toBeLessThanOrEqual(maxProcessMiB);
    expect((await service.run('return 1', { timeoutMs: 30_000 })).body).toMatchObject({
      result: 1,
    });
  },
);

it('60 MiB can be used, by one run after the other', async () => {
  for (let run = 0; run < 5; run++) {
    const { body } = await runMeasured(
      'const a = [0, 0].map(() => new Uint8Array(30 << 20).fill(1)); return a.length',
    );
    expect(body).toMatchObject({ result: 2 });
  }
});

it('ends a process whose memory was exceeded at once, and keeps one whose engine refused a single large allocation', async () => {
  await service.run('return 1');
  const before = sandboxes();
  const refused = await service.run(
    'try { new Uint8Array(2e9) } catch (error) { return error.message }',
  );
  expect(refused.body).toMatchObject({ result: 'out of memory' });
  await service.run('return 1');
  expect(sandboxes()).toEqual(before);
  await runMeasured('const a = []; for (;;) a.push(new Uint8Array(1e6))');
  await until(() => Promise.resolve(before.some((pid) => !sandboxes().includes(pid))));
});

it('bodies of open requests have their own limit', async () => {
  const send =
    'fetch("http://127.0.0.1:1/", { method: "POST", body }).catch((error) => error.message)';
  const code = `const body = new Uint8Array(1 << 20); const all = await Promise.all(Array.from({ length: 60 }, () => ${send}));
    return all.filter((message) => message.includes("Open requests may have 8388608 bytes together")).length`;
  const { body, peakMiB } = await runMeasured(code);
  expect(body.result).toBeGreaterThan(40);
  expect(Math.round(peakMiB)).toBeLessThanOrEqual(maxProcessMiB);
});

describe('a call whose process ends', () => {
  const kill = (signal: NodeJS.Signals) => sandboxes().forEach((pid) => process.kill(pid, signal));

  it('before its handler started runs elsewhere', async () => {
    const code = 'return "elsewhere"';
    await service.run(code);
    const stopped = sandboxes();
    kill('SIGSTOP');
    const answer = service.run(code, { timeoutMs: 30_000 });
    // The call is written to the process that is stopped: none is idle.
    await until(() => Promise.resolve(service.executor.stats().idle === 0));
    for (const pid of stopped) process.kill(pid, 'SIGKILL');
    expect((await answer).body).toMatchObject({ result: 'elsewhere' });
  });

  it('after its handler started is an error, and the handler does not run again', async () => {
    const { port } = server.address() as { port: number };
    const answer = service.run(
      `await fetch("http://127.0.0.1:${port}/"); await new Promise(() => {})`,
      {
        timeoutMs: 30_000,
      },
    );
    await until(() => Promise.resolve(requests === 1));
    kill('SIGKILL');
    expect((await answer).body.error).toBe(
      'The sandbox process ended: a resource limit was exceeded',
    );
    expect((await service.run('return 1', { timeoutMs: 30_000 })).body).toMatchObject({
      result: 1,
    });
    expect(requests).toBe(1);
  });
});
