import { readFileSync } from 'node:fs';
import { check } from '@parley/contracts';
import { z } from 'zod';
import { parseOtlpHeaders } from '../tracing/otlp-headers';

type Env = Record<string, string | undefined>;

/** A variable with a number between bounds. Its name ends with the unit. */
export const numberVariable = (fallback: number, min = 0, max = Number.MAX_SAFE_INTEGER) =>
  z.coerce
    .number({
      error: `must be a number ${max < Number.MAX_SAFE_INTEGER ? `from ${min} to ${max}` : `of at least ${min}`}`,
    })
    .min(min)
    .max(max)
    .default(fallback);

/** A variable with an http or https address. Slashes at its end are removed. */
export const urlVariable = () =>
  z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .transform((url) => url.replace(/\/+$/, ''));

/** A variable with a list of values, separated by commas or spaces. Empty by default. */
export const listVariable = () =>
  z
    .string()
    .default('')
    .transform((text) => text.split(/[\s,]+/).filter((item) => item !== ''));

function isHeaderList(text: string): boolean {
  try {
    parseOtlpHeaders(text);
    return true;
  } catch {
    return false;
  }
}

/** Tracing, which is disabled by default. */
const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: urlVariable().optional().meta({
    description: 'Base address of an OTLP/HTTP collector. When it is not set, tracing is disabled.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .refine(isHeaderList, 'must be headers in the form "name=value", separated by commas')
    .optional()
    .meta({
      description:
        'Headers of the requests to the collector, in the form "name=value", separated by commas.',
    }),
  OTEL_TRACES_SAMPLER_ARG: numberVariable(1, 0, 1).meta({
    description:
      'Part of the traces that is sent to the collector. Of the others, a service sends its spans if one of them has failed.',
  }),
};

/** The variables of every service. */
export const serviceVariables = (port: number) => ({
  NODE_ENV: z.enum(['development', 'test', 'production']).default('production').meta({
    description:
      'Mode of the process. Outside production, answers are checked against their schemas, and an unsafe setting causes a warning instead of an error.',
  }),
  HOST: z.string().default('0.0.0.0').meta({ description: 'Address to listen on.' }),
  PORT: numberVariable(port, 0, 65_535).meta({ description: 'Port on which the service listens.' }),
  INTERNAL_PORT: numberVariable(port + 100, 0, 65_535).meta({
    description:
      'Port of /livez, /readyz, /metrics and /settings. Must not be reachable from outside.',
  }),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .default('info')
    .meta({ description: 'Lowest severity of log lines that are written.' }),
  SHUTDOWN_TIMEOUT_MS: numberVariable(25_000, 100).meta({
    description:
      'Maximum time in milliseconds for a shutdown. After it, the process exits with status 1.',
  }),
  SHUTDOWN_DRAIN_MS: numberVariable(0, 0, 60_000).meta({
    description:
      'Time in milliseconds for which a process that shuts down still accepts connections after /readyz reports that it is not ready. Part of SHUTDOWN_TIMEOUT_MS. A value above 4000, the time for which the gateway keeps idle connections, prevents failed requests at a restart.',
  }),
  ...tracingVariables,
});

/**
 * The variables of services that use PostgreSQL. `timeoutMs`: default of the limit of a statement.
 */
export const databaseVariables = (timeoutMs: number) => ({
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
    .meta({
      description:
        'Address of PostgreSQL 15 or newer. Append ?pgbouncer=prepared for a PgBouncer of 1.21 or newer in transaction mode, ?pgbouncer=true for an older one, and ?options=-c%20NAME%3DVALUE for session options.',
    }),
  DATABASE_POOL_SIZE: numberVariable(10, 1, 1000).meta({
    description:
      'Maximum number of connections to PostgreSQL of one process. Filters, sorts, searches, counts and bulk requests of one organization use a fifth of them, at least 2, so a database server with many CPUs needs more.',
  }),
  DATABASE_TIMEOUT_MS: numberVariable(timeoutMs, 100).meta({
    description:
      'Maximum time in milliseconds for one statement. Two seconds later a server that is silent counts as unavailable. Must be at least 5000 below the DEADLINE_MS of the gateway in services that answer requests.',
  }),
});

/** The variables of services that may read from a replica. */
export const replicaVariables = {
  READ_DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')
    .optional()
    .meta({
      description:
        'Address of a standby of the database with streaming replication, in the forms of DATABASE_URL. Lists, statistics and counts are read from it while it is at most a second behind, otherwise from DATABASE_URL.',
    }),
  READ_DATABASE_POOL_SIZE: numberVariable(5, 1, 1000).meta({
    description:
      'Maximum number of connections to READ_DATABASE_URL of one process, besides one that measures how far it is behind.',
  }),
};

/**
 * Reads the configuration of a process: each variable from `NAME`, or from the file that
 * `NAME_FILE` names. An empty variable counts as not set. Throws one error that lists all
 * problems, without values.
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
  const checked = check(z.object(shape), values);
  if (!checked.ok)
    for (const { path, message } of checked.problems)
      problems.push(`${path}: ${values[path] === undefined ? 'is required' : message}`);
  if (problems.length > 0 || !checked.ok) throw new ConfigError(problems);
  return checked.value;
}

export class ConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(`Invalid configuration:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}
