import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  ConfigError,
  databaseVariables,
  loadConfig,
  numberVariable,
  serviceVariables,
  urlVariable,
} from './config';

const folder = mkdtempSync(join(tmpdir(), 'config-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (text: string) => {
  const path = join(folder, String(Math.random()));
  writeFileSync(path, text);
  return path;
};
const shape = {
  ...serviceVariables(4001),
  ...databaseVariables(30_000),
  TOKEN: z.string().optional(),
  UPSTREAM_URL: urlVariable().optional(),
};
const databaseUrl = 'postgres://user@host/name';

test('defaults, numbers and addresses', () => {
  expect(loadConfig(shape, { DATABASE_URL: databaseUrl, UPSTREAM_URL: 'http://a:1/b//' })).toEqual({
    NODE_ENV: 'production',
    HOST: '0.0.0.0',
    PORT: 4001,
    INTERNAL_PORT: 4101,
    LOG_LEVEL: 'info',
    OTEL_TRACES_SAMPLER_ARG: 1,
    SHUTDOWN_TIMEOUT_MS: 25_000,
    SHUTDOWN_DRAIN_MS: 0,
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: 10,
    DATABASE_TIMEOUT_MS: 30_000,
    TOKEN: undefined,
    UPSTREAM_URL: 'http://a:1/b',
  });
});

test('an empty variable counts as not set', () => {
  expect(loadConfig(shape, { DATABASE_URL: databaseUrl, PORT: '', TOKEN: '' })).toMatchObject({
    PORT: 4001,
    TOKEN: undefined,
  });
});

test('a variable can be read from a file, without its last line break', () => {
  expect(
    loadConfig(shape, { DATABASE_URL_FILE: file(`${databaseUrl}\n`), PORT_FILE: file('7') }),
  ).toMatchObject({
    DATABASE_URL: databaseUrl,
    PORT: 7,
  });
});

test('headers of the collector are parsed at the start, and are named in no error', () => {
  const load = (headers: string) =>
    loadConfig(shape, { DATABASE_URL: databaseUrl, OTEL_EXPORTER_OTLP_HEADERS: headers });
  for (const headers of ['Authorization=Basic%20x', 'a=1, b=c=d ,', 'a='])
    expect(load(headers).OTEL_EXPORTER_OTLP_HEADERS).toBe(headers);
  const problem =
    'OTEL_EXPORTER_OTLP_HEADERS: must be headers in the form "name=value", separated by commas';
  for (const headers of ['secret', 'a b=secret', 'a=secret%0a', 'a=secret%E0%A4%A'])
    expect(() => load(headers)).toThrow(new ConfigError([problem]));
});

test('one error lists all problems, without values', () => {
  const env = {
    PORT: '99999',
    LOG_LEVEL: 'loud',
    UPSTREAM_URL: 'ftp://secret',
    TOKEN: 'secret',
    TOKEN_FILE: file('x'),
    HOST_FILE: '/nowhere/at/all',
  };
  let problems: string[] = [];
  try {
    loadConfig({ ...shape, BATCH: numberVariable(5, 1) }, { ...env, BATCH: 'many' });
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    problems = (error as ConfigError).problems;
    expect((error as Error).message).not.toContain('secret');
  }
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'HOST_FILE',
    'TOKEN',
    'PORT',
    'LOG_LEVEL',
    'DATABASE_URL',
    'UPSTREAM_URL',
    'BATCH',
  ]);
  expect(problems).toContain('DATABASE_URL: is required');
  expect(problems).toContain('PORT: must be a number from 0 to 65535');
  expect(problems).toContain('BATCH: must be a number of at least 1');
});
