import { readFileSync } from 'node:fs';
import { z } from 'zod';

type Env = Record<string, string | undefined>;

/** A number in a variable, with bounds; the unit belongs in the variable's name. */
export const numberVariable = (fallback: number, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce
    .number({ error: `must be a number ${max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `from ${min} on`}` })
    .min(min)
    .max(max)
    .default(fallback);

/** An absolute http or https address, without a slash at its end. */
export const urlVariable = () =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/+$/, ''));

/** Several values, separated by commas or spaces; none by default. */
export const listVariable = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''));

/** Traces: off unless a collector is named. */
const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: urlVariable().optional().meta({
    description: 'Base address of an OTLP/HTTP collector; without it no traces are made.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional().meta({
    description: 'Headers for the collector, "name=value", separated by commas.',
  }),
};

/** Variables that every service has. */
export const serviceVariables = (port: number) => ({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('production').meta({
    description:
      'Outside production, answers are checked against their schemas and weaker settings are warned about, not refused.',
  }),
  HOST: z.string().default('0.0.0.0').meta({ description: 'Address to listen on.' }),
  PORT: numberVariable(port, 0, 65_535).meta({ description: 'Port of the service.' }),
  INTERNAL_PORT: numberVariable(port + 100, 0, 65_535).meta({
    description: 'Port of /livez, /readyz and /metrics; keep it inside.',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ description: 'Least severe level that is logged.' }),
  SHUTDOWN_TIMEOUT_MS: numberVariable(25_000, 100).meta({ description: 'Milliseconds until a shutdown is forced.' }),
  SHUTDOWN_DRAIN_MS: numberVariable(0, 0, 60_000).meta({
    description:
      'Milliseconds between "not ready" and the closed door, part of the time above. Longer than the gateway keeps an idle connection (4,000), a restart loses no request.',
  }),
  ...tracingVariables,
});

/** The database, for services that have one. */
export const databaseVariables = {
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
    .meta({
      description:
        'PostgreSQL 15 or newer; with ?pgbouncer=true at its end a PgBouncer in transaction mode, with ?options=-c%20NAME%3DVALUE session options.',
    }),
  DATABASE_POOL_SIZE: numberVariable(10, 1, 1000).meta({ description: 'Connections of one process.' }),
};

/** Redis, for services that queue or count. */
export const redisVariables = {
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must be a redis:// address')
    .meta({ description: 'Redis 7 or newer with maxmemory-policy noeviction. It may be lost without losing data.' }),
};

/**
 * Reads a process's settings: each variable from `NAME`, else from the file that `NAME_FILE` names. An empty variable
 * counts as absent. Throws one error that lists every problem.
 */
export function loadConfig<S extends z.ZodRawShape>(shape: S, env: Env): z.output<z.ZodObject<S>> {
  const problems: string[] = [];
  const values: Env = {};
  for (const name of Object.keys(shape)) {
    const file = env[`${name}_FILE`];
    if (file && env[name]) problems.push(`${name}: set either ${name} or ${name}_FILE, not both`);
    try {
      values[name] = env[name] || (file && readFileSync(file, 'utf8').trim()) || undefined;
    } catch {
      problems.push(`${name}_FILE: cannot read ${file}`);
    }
  }
  const result = z.object(shape).safeParse(values);
  for (const issue of result.error?.issues ?? []) {
    const name = String(issue.path[0]);
    problems.push(`${name}: ${values[name] === undefined ? 'is required' : issue.message}`);
  }
  if (problems.length > 0 || !result.success) throw new ConfigError(problems);
  return result.data;
}

export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}
