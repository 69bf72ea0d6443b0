import { existsSync } from 'node:fs';
import { createDb, schemaProblem } from '@parley/db';
import { closeRedis, connectRedis, waitForRedis } from '@parley/queues';
import { apiAddress, databaseUrl, findStack, migrationsDir, readVariable } from '../environment';
import { exitCodes } from '../failure';
import { safeLine } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

type State = 'ok' | 'warning' | 'failed' | 'skipped';

interface Finding {
  name: string;
  state: State;
  /** What was found. */
  detail: string;
  /** What to do about it. */
  mend?: string;
}

const patienceMs = 5_000;
const marks: Record<State, string> = {
  ok: colors.green('ok     '),
  warning: colors.yellow('warning'),
  failed: colors.red('failed '),
  skipped: colors.dim('skipped'),
};

/** `parley doctor`: looks at everything that Parley needs, as far as it is known here, and says how to mend it. */
export async function runDoctor({ json }: { json?: boolean }): Promise<void> {
  const findings: Finding[] = [];
  for (const check of [
    checkNode,
    checkProject,
    checkGateway,
    checkKey,
    checkServices,
    checkDatabase,
    checkRedis,
    checkModel,
  ]) {
    for (const finding of await check()) {
      findings.push(finding);
      if (json) continue;
      print(`${marks[finding.state]}  ${finding.name}: ${safeLine(finding.detail)}`);
      if (finding.mend !== undefined) print(`         ${colors.dim('→')} ${safeLine(finding.mend)}`);
    }
  }
  const failed = findings.filter(({ state }) => state === 'failed');
  if (json) printJson({ ok: failed.length === 0, findings });
  else note(failed.length === 0 ? 'All is well.' : `${failed.length} of ${findings.length} checks failed.`);
  if (failed.length > 0) process.exitCode = exitCodes.failure;
}

async function checkNode(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < 20 || (major === 20 && minor < 19);
  return [
    {
      name: 'Node.js',
      state: isOld ? 'failed' : 'ok',
      detail: process.versions.node,
      ...(isOld && { mend: 'Install Node 24; 20.19 is the oldest that works' }),
    },
  ];
}

async function checkProject(): Promise<Finding[]> {
  const has = ['agents', 'entity-types', 'roles', 'tools', 'routers', 'triggers'].filter((name) => existsSync(name));
  return [
    has.length > 0
      ? { name: 'Project', state: 'ok', detail: `this folder has ${has.join(', ')}` }
      : { name: 'Project', state: 'skipped', detail: 'no definitions in this folder', mend: 'parley init my-project' },
  ];
}

/** The address, when there is one; what is missing is told by whoever asks for the key. */
function gatewayUrl(): string | undefined {
  return (readVariable('PARLEY_URL') ?? findStack()?.gatewayUrl)?.replace(/\/+$/, '');
}

async function checkGateway(): Promise<Finding[]> {
  const name = 'Gateway';
  const url = gatewayUrl();
  if (url === undefined) {
    return [
      {
        name,
        state: 'failed',
        detail: 'PARLEY_URL is not set',
        mend: 'Set PARLEY_URL (or write .env), or run npm start in a checkout',
      },
    ];
  }
  try {
    const { response, tookMs } = await ask(`${url}/health`);
    if (response.ok) return [{ name, state: 'ok', detail: `${url} answers in ${tookMs} ms` }];
    return [
      {
        name,
        state: 'failed',
        detail: `${url}/health answers ${response.status}`,
        mend: 'PARLEY_URL must be the address of the gateway',
      },
    ];
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: `${url} does not answer: ${reasonOf(error)}`,
        mend: 'Start Parley (npm start), or mend PARLEY_URL',
      },
    ];
  }
}

async function checkKey(): Promise<Finding[]> {
  const name = 'API key';
  let address: { url: string; key: string };
  try {
    address = apiAddress();
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: (error as Error).message,
        mend: "parley keys create --env development --permissions '*' --name me",
      },
    ];
  }
  const { url, key } = address;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const probes = [
    ['data', 'GET', '/v1/entity-types'],
    ['sync', 'POST', '/v1/sync/state'],
    ['chat', 'POST', '/v1/chat'],
  ] as const;
  try {
    const granted: string[] = [];
    for (const [permission, method, path] of probes) {
      // An empty body is refused with 400 by chat, and with 403 before that when the key may not chat.
      const { response } = await ask(url + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      if (response.status === 401)
        return [
          {
            name,
            state: 'failed',
            detail: 'it is refused: unknown, revoked or expired',
            mend: "parley keys create --env development --permissions '*' --name me",
          },
        ];
      if (response.status === 503)
        return [
          {
            name,
            state: 'failed',
            detail: `${path} answers 503`,
            mend: `See the logs of the ${permission === 'chat' ? 'chat' : 'data'} service`,
          },
        ];
      if (response.status !== 403) granted.push(permission);
    }
    const environment = key.startsWith('sk_prod_') ? 'production' : 'development';
    if (granted.includes('sync'))
      return [{ name, state: 'ok', detail: `of ${environment}, may ${granted.join(', ')}` }];
    return [
      {
        name,
        state: 'warning',
        detail: `of ${environment}, may ${granted.join(', ') || 'nothing'}`,
        mend: 'push, diff, dev and run-tool need a key with sync',
      },
    ];
  } catch (error) {
    return [{ name, state: 'skipped', detail: `${url} does not answer: ${reasonOf(error)}` }];
  }
}

/** Of a stack that runs from this checkout each service says itself whether it is ready. */
async function checkServices(): Promise<Finding[]> {
  const services = Object.entries(findStack()?.services ?? {});
  const findings: Finding[] = [];
  for (const [name, { internalPort }] of services) {
    if (internalPort === undefined) continue;
    try {
      const { response } = await ask(`http://127.0.0.1:${internalPort}/readyz`);
      const { checks = {} } = (await response.json()) as { checks?: Record<string, string> };
      const broken = Object.entries(checks).filter(([, state]) => state !== 'ok');
      findings.push(
        response.ok
          ? { name: `Service ${name}`, state: 'ok', detail: 'ready' }
          : {
              name: `Service ${name}`,
              state: 'failed',
              detail: broken.map(([what, why]) => `${what}: ${why}`).join('; '),
              mend: 'Mend what it waits for; it goes on by itself',
            },
      );
    } catch (error) {
      findings.push({
        name: `Service ${name}`,
        state: 'failed',
        detail: `does not answer: ${reasonOf(error)}`,
        mend: 'See its lines in the output of npm start',
      });
    }
  }
  return findings;
}

async function checkDatabase(): Promise<Finding[]> {
  const name = 'PostgreSQL';
  let url: string;
  try {
    url = databaseUrl();
  } catch {
    return [{ name, state: 'skipped', detail: 'DATABASE_URL is not set; only commands at the database need it' }];
  }
  const db = createDb({ databaseUrl: url, poolSize: 1, applicationName: 'parley-doctor' });
  try {
    const { rows } = await db.pool.query<{ server_version_num: string }>('show server_version_num');
    const major = Math.floor(Number(rows[0]!.server_version_num) / 10_000);
    const problem = await schemaProblem(db.pool, migrationsDir());
    return [
      major < 15
        ? { name, state: 'failed', detail: `version ${major}`, mend: 'Parley needs PostgreSQL 15 or newer' }
        : { name, state: 'ok', detail: `version ${major}` },
      problem === null
        ? { name: 'Schema', state: 'ok', detail: 'the one that this version knows' }
        : { name: 'Schema', state: 'failed', detail: problem.split('. ')[0]!, mend: 'parley migrate' },
    ];
  } catch (error) {
    return [{ name, state: 'failed', detail: reasonOf(error), mend: 'Start PostgreSQL, or mend DATABASE_URL' }];
  } finally {
    await db.close();
  }
}

async function checkRedis(): Promise<Finding[]> {
  const name = 'Redis';
  const url = readVariable('REDIS_URL') ?? findStack()?.redisUrl;
  if (url === undefined) return [{ name, state: 'skipped', detail: 'REDIS_URL is not set; no command needs it' }];
  let refusal: Error | undefined;
  const onError = (error: Error) => (refusal = error);
  const redis = connectRedis({ url, role: 'producer', name: 'parley-doctor', onError });
  try {
    await waitForRedis(redis, patienceMs);
    const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
    if (policy === undefined) return [{ name, state: 'ok', detail: 'answers, and does not tell its maxmemory-policy' }];
    if (policy === 'noeviction') return [{ name, state: 'ok', detail: 'answers, and forgets nothing (noeviction)' }];
    return [
      {
        name,
        state: 'failed',
        detail: `maxmemory-policy is ${policy}: jobs may be lost`,
        mend: 'redis-cli config set maxmemory-policy noeviction',
      },
    ];
  } catch (error) {
    // The wait only says that it took too long; why is what the connection has said meanwhile.
    const detail = redis.status === 'ready' ? reasonOf(error) : `does not answer: ${reasonOf(refusal ?? error)}`;
    return [{ name, state: 'failed', detail, mend: 'Start Redis, or mend REDIS_URL' }];
  } finally {
    await closeRedis(redis);
  }
}

const providers = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_API_KEY', 'OLLAMA_BASE_URL'];

async function checkModel(): Promise<Finding[]> {
  const set = providers.filter((variable) => readVariable(variable) !== undefined);
  if (set.length > 0) return [{ name: 'Model providers', state: 'ok', detail: `${set.join(', ')} here` }];
  return [
    {
      name: 'Model providers',
      state: 'warning',
      detail: 'none is configured here; without one the offline/scripted model answers',
      mend: `Set one of ${providers.join(', ')} where chat and worker run`,
    },
  ];
}

async function ask(url: string, init: RequestInit = {}): Promise<{ response: Response; tookMs: number }> {
  const startedAt = performance.now();
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(patienceMs) });
  return { response, tookMs: Math.round(performance.now() - startedAt) };
}

function reasonOf(error: unknown): string {
  const { message, cause, code } = error as {
    message?: string;
    code?: string;
    cause?: { message?: string; code?: string };
  };
  return cause?.message || cause?.code || message || code || 'no answer';
}
