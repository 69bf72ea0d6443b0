import {
  type Db,
  column,
  createDb,
  createSecretBox,
  readSchema,
  statement,
  unreadableOf,
} from '@parley/db';
import { dueUnsignedPurges } from '@parley/identity';
import { closeRedis, connectRedis, redisVariables, waitForRedis } from '@parley/redis';
import { databaseUrl, findStack, migrationsDir, readVariable } from '../environment';
import { describeHeld, listHeldWork } from '../held/held-kinds';
import { findSecret, sealedValues } from '../secrets';
import { checkMessagingSecret } from './check-messaging-secret';
import { checkStored } from './check-stored';
import { formatTime } from '../terminal';
import { type Finding, timeoutMs, reasonOf } from './finding';

const serverVersion = statement('server-version', 'show server_version_num', {
  server_version_num: column.text,
});

export async function checkDatabase(): Promise<Finding[]> {
  const name = 'PostgreSQL';
  let url: string;
  try {
    url = databaseUrl();
  } catch {
    return [
      {
        name,
        state: 'skipped',
        detail: 'DATABASE_URL is not set; only commands that use the database need it',
      },
    ];
  }
  const db = createDb({ databaseUrl: url, poolSize: 1, applicationName: 'parley-doctor' });
  try {
    const { rows } = await db.acrossTenants('operator command', serverVersion);
    const major = Math.floor(Number(rows[0]!.server_version_num) / 10_000);
    const { problem, newer } = await readSchema(db, migrationsDir());
    // The first sentence is the problem, the second one the fix.
    const [detail, fix] = problem?.split(/\. (?:Run: )?/) ?? [];
    return [
      major < 15
        ? {
            name,
            state: 'failed',
            detail: `version ${major}`,
            fix: 'Install PostgreSQL 15 or newer',
          }
        : { name, state: 'ok', detail: `version ${major}` },
      problem === null
        ? {
            name: 'Schema',
            state: 'ok',
            detail: newer.length > 0 ? `newer, and compatible: ${newer.join(', ')}` : 'up to date',
          }
        : { name: 'Schema', state: 'failed', detail: detail!, fix },
      ...(problem === null
        ? [
            ...(await checkSecrets(db)),
            await checkMessagingSecret(db),
            ...(await checkIdentity(db)),
            ...(await checkHeld(db)),
            ...(await checkStored(db)),
          ]
        : []),
    ];
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: reasonOf(error),
        fix: 'Start PostgreSQL, or correct DATABASE_URL',
      },
    ];
  } finally {
    await db.close();
  }
}

/** Reports work that waits for an operator since a restore. */
async function checkHeld(db: Db): Promise<Finding[]> {
  const counts: Record<string, number> = {};
  for (const { kind, count } of await listHeldWork(db)) counts[kind] = (counts[kind] ?? 0) + count;
  if (Object.keys(counts).length === 0) return [];
  return [
    {
      name: 'Held work',
      state: 'warning',
      detail: `a restore holds ${describeHeld(counts)}`,
      fix: 'parley held list shows them, parley held release and parley held drop end the hold',
    },
  ];
}

/** Checks that SECRETS_KEY decrypts the stored secrets. */
async function checkSecrets(db: Db): Promise<Finding[]> {
  const name = 'SECRETS_KEY';
  const key = findSecret('SECRETS_KEY');
  if (key === undefined)
    return [{ name, state: 'skipped', detail: 'not set; only secrets rotate needs it' }];
  let box: ReturnType<typeof createSecretBox>;
  try {
    box = createSecretBox(key);
  } catch (error) {
    return [
      {
        name,
        state: 'failed',
        detail: reasonOf(error),
        fix: 'Create a key with: openssl rand -base64 32',
      },
    ];
  }
  const values = await sealedValues(db);
  const unreadable = unreadableOf(box, values);
  if (unreadable.length === 0)
    return [{ name, state: 'ok', detail: `decrypts ${values.length} stored secrets` }];
  return [
    {
      name,
      state: 'failed',
      detail: `cannot decrypt ${unreadable.length} of ${values.length} stored secrets: ${unreadable.slice(0, 3).join('; ')}${unreadable.length > 3 ? '; …' : ''}`,
      fix: 'Add the key that encrypted them to SECRETS_KEY, after a comma. If that key is lost, set the integrations and tool secrets again, and create new publishable keys',
    },
  ];
}

/**
 * Checks for unsigned identity deliveries: deletions that they requested, and whether
 * they are accepted.
 */
async function checkIdentity(db: Db): Promise<Finding[]> {
  const name = 'Identity deliveries';
  const purges = await dueUnsignedPurges(db, 4);
  const shown = purges.slice(0, 3).map(({ slug, runAt }) => `${slug} (due ${formatTime(runAt)})`);
  const findings: Finding[] = [];
  if (purges.length > 0)
    findings.push({
      name,
      state: 'warning',
      detail: `unsigned deliveries will delete ${shown.join(', ')}${purges.length > shown.length ? ', …' : ''}`,
      fix: 'Check at the identity provider whether these were deleted. Stop a deletion with parley org purges --stop <slug>',
    });
  if (findSecret('IDENTITY_WEBHOOK_SECRET') === undefined)
    findings.push({
      name,
      state: 'skipped',
      detail:
        'IDENTITY_WEBHOOK_SECRET is not set here. Without it, /webhook/clerk refuses deliveries in production and accepts unsigned ones in development',
      fix: 'Set IDENTITY_WEBHOOK_SECRET of webhook-ingest to the signing secret that Clerk shows for the endpoint',
    });
  return findings.length > 0
    ? findings
    : [{ name, state: 'ok', detail: 'IDENTITY_WEBHOOK_SECRET is set' }];
}

export async function checkRedis(): Promise<Finding[]> {
  const name = 'Redis';
  const url = readVariable('REDIS_URL') ?? findStack()?.redisUrl;
  if (url === undefined)
    return [{ name, state: 'skipped', detail: 'REDIS_URL is not set; no command needs it' }];
  const problem = redisVariables.REDIS_URL.safeParse(url).error?.issues[0]?.message;
  if (problem !== undefined)
    return [{ name, state: 'failed', detail: `REDIS_URL ${problem}`, fix: 'Correct REDIS_URL' }];
  let refusal: Error | undefined;
  const onError = (error: Error) => (refusal = error);
  const redis = connectRedis({ url, role: 'producer', name: 'parley-doctor', onError });
  try {
    await waitForRedis(redis, timeoutMs);
    const policy = /maxmemory_policy:(\S+)/.exec(await redis.info('memory'))?.[1];
    if (policy === undefined)
      return [
        { name, state: 'ok', detail: 'connected; maxmemory-policy is not reported by this server' },
      ];
    if (policy === 'noeviction')
      return [{ name, state: 'ok', detail: 'connected; maxmemory-policy is noeviction' }];
    return [
      {
        name,
        state: 'failed',
        detail: `maxmemory-policy is ${policy}, so Redis may delete jobs when memory is full`,
        fix: 'redis-cli config set maxmemory-policy noeviction',
      },
    ];
  } catch (error) {
    // waitForRedis only reports a timeout. The reason is the last error of the connection.
    const detail =
      redis.status === 'ready' ? reasonOf(error) : `cannot connect: ${reasonOf(refusal ?? error)}`;
    return [{ name, state: 'failed', detail, fix: 'Start Redis, or correct REDIS_URL' }];
  } finally {
    await closeRedis(redis);
  }
}
