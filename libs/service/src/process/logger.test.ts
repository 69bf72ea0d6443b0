import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createLogger } from './logger';

const key = `sk_prod_${'a'.repeat(43)}`;

function written(write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown> {
  let text = '';
  write(createLogger({ service: 'data', destination: { write: (line) => void (text += line) } }));
  return JSON.parse(text);
}

test('each line is one object with the name of the service', () => {
  expect(written((log) => log.child({ requestId: 'r1' }).info({ status: 200 }, 'request'))).toEqual(
    {
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      service: 'data',
      requestId: 'r1',
      status: 200,
      msg: 'request',
    },
  );
});

test.each([
  ['authorization', { authorization: 'x' }],
  ['a header of a nested request', { request: { headers: { 'X-Api-Key': 'x', cookie: 'x' } } }],
  [
    'a list of integrations',
    { integrations: [{ secretKey: 'x' }, { config: { signing_secret: 'x' } }] },
  ],
  ['EXECUTOR_TOKEN', { env: { EXECUTOR_TOKEN: 'x' } }],
])('%s is redacted by its name', (_name, fields) => {
  const line = JSON.stringify(written((log) => log.warn(fields, 'seen')));
  expect(line).not.toContain('"x"');
  expect(line).toContain('[redacted]');
});

test('the details that a driver attaches to an error are not logged', () => {
  const error = Object.assign(new Error('the connection broke'), {
    code: '57P01',
    severity: 'FATAL',
    detail: 'Failing row contains (quokka).',
    where: 'quokka',
    client: { _activeQuery: { text: 'select $1', values: ['quokka'] } },
  });
  const line = written((log) => log.warn({ err: error }, 'database'));
  expect(JSON.stringify(line)).not.toContain('quokka');
  expect(line.err).toEqual({
    type: 'Error',
    message: 'the connection broke',
    stack: expect.stringContaining('logger.test'),
    code: '57P01',
    severity: 'FATAL',
  });
});

test('API keys and bearer tokens are redacted in any text', () => {
  const error = Object.assign(new Error(`key ${key} was refused`), {
    upstream: { headers: [`Bearer ${key}`] },
    password: 'x',
  });
  const line = written((log) =>
    log.error(
      { err: error, url: `/v1?key=${key}`, secrets: [`whsec_${'b'.repeat(20)}`] },
      'failed',
    ),
  );
  expect(JSON.stringify(line)).not.toMatch(/aaaa|bbbb|"x"/);
  expect(line.err).toMatchObject({
    message: 'key [redacted] was refused',
    stack: expect.stringContaining('logger.test'),
  });
});

test('other values are logged unchanged, and the logged object is not modified', () => {
  const fields = {
    usage: { inputTokens: 3, totalTokens: 5 },
    tokenCount: 1,
    deep: { token: 'x' },
    nothing: null,
    token: null,
  };
  expect(written((log) => log.info(fields, 'seen'))).toMatchObject({
    usage: { inputTokens: 3, totalTokens: 5 },
    tokenCount: 1,
    deep: { token: '[redacted]' },
    token: null,
  });
  expect(fields.deep.token).toBe('x');
});

/** Runs a program that imports the logger. Returns what it has written. */
function outputOf(program: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'logger-'));
  const root = resolve(__dirname, '../../../..');
  try {
    writeFileSync(
      join(folder, 'a.ts'),
      `import { createLogger } from '${__dirname}/logger';\n${program}`,
    );
    execFileSync(join(root, 'node_modules/.bin/esbuild'), [
      join(folder, 'a.ts'),
      '--bundle',
      '--platform=node',
      '--packages=external',
      `--outfile=${join(folder, 'a.cjs')}`,
      '--log-level=error',
    ]);
    const { stdout } = spawnSync(process.execPath, [join(folder, 'a.cjs')], {
      env: { NODE_PATH: join(root, 'node_modules') },
      encoding: 'utf8',
    });
    return stdout;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('the buffered lines are written when the process exits', () => {
  const output = outputOf(
    `const log = createLogger({ service: 'x' });
     for (let at = 0; at < 100; at += 1) log.info({ at }, 'line');
     process.exit(3);`,
  );
  expect(output.trim().split('\n')).toHaveLength(100);
});

test('each line is written within a moment while the process runs', () => {
  // SIGKILL loses what is buffered.
  const output = outputOf(
    `const log = createLogger({ service: 'x' });
     log.info('first');
     setTimeout(() => log.info('second'), 1_000);
     setTimeout(() => process.kill(process.pid, 'SIGKILL'), 2_000);`,
  );
  expect(output.trim().split('\n')).toHaveLength(2);
});

test('a line is written also when its moment passes during another write', async () => {
  // The parent reads after half a second, so the second line waits behind a write that the
  // full pipe holds up.
  const output = outputOf(
    `const log = createLogger({ service: 'x' });
     const at = (ms, work) => setTimeout(work, ms);
     if (process.argv[2] === undefined) {
       const child = require('node:child_process').spawn(process.execPath, [__filename, 'child'], { stdio: ['ignore', 'pipe', 'inherit'] });
       at(1_000, () => child.stdout.pipe(process.stdout));
       at(3_000, () => child.kill('SIGKILL'));
     } else {
       log.info({ text: 'x'.repeat(1_000_000) }, 'long');
       at(50, () => log.info('short'));
       at(10_000, () => {});
     }`,
  );
  expect(
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg),
  ).toEqual(['long', 'short']);
});
