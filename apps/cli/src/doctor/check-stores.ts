import {
  type Db,
  checkSealedIntegrations,
  column,
  createDb,
  createSecretBox,
  schemaProblem,
  statement,
} from '@parley/db';
import { dueUnsignedPurges } from '@parley/identity';
import { closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { databaseUrl, findStack, migrationsDir, readVariable } from '../environment';
import { findSecret } from '../secrets';
import { checkMessagingSecret } from './check-messaging-secret';
import { formatTime } from '../terminal';
import { type Finding, patienceMs, reasonOf } from './finding';

const serverVersion = statement('server-version', 'show server_version_num', { server_version_num: column.text });

export async function checkDatabase(): Promise<Finding[]> {
  const name = 'PostgreSQL';
  let url: string;
  try {
    url = databaseUrl();
  } catch {
    return [{ name, state: 'skipped', detail: 'DATABASE_URL is not set; only commands at the database need it' }];
  }
  const db = createDb({ databaseUrl: url, poolSize: 1, applicationName: 'parley-doctor' });
  try {
    const { rows } = await db.acrossTenants('operator command', serverVersion);
    const major = Math.floor(Number(rows[0]!.server_version_num) / 10_000);
    const problem = await schemaProblem(db, migrationsDir());
    // What is wrong, and what to do about it.
    const [detail, fix] = problem?.split(/\. (?:Run: )?/) ?? [];
    return [
      major < 15
        ? { name, state: 'failed', detail: `version ${major}`, fix: 'Parley needs PostgreSQL 15 or newer' }
        : { name, state: 'ok', detail: `version ${major}` },
      problem === null
        ? { name: 'Schema', state: 'ok', detail: 'the one that this version knows' }
        : { name: 'Schema', state: 'failed', detail: detail!, fix },
      ...(problem === null
        ? [...(await checkSecrets(db)), await checkMessagingSecret(db), ...(await checkIdentity(db))]
        : []),
    ];
  } catch (error) {
    return [{ name, state: 'failed', detail: reasonOf(error), fix: 'Start PostgreSQL, or fix DATABASE_URL' }];
  } finally {
    await db.close();
  }
}

/** Whether what the services have sealed opens with the key that is known here. */
async function checkSecrets(db: Db): Promise<Finding[]> {
  const name = 'SECRETS_KEY';
  const key = findSecret('SECRETS_KEY');
  if (key === undefined)
    return [{ name, state: 'skipped', detail: 'is not set; only commands of integrations need it' }];
  let box: ReturnType<typeof createSecretBox>;
  try {
    box = createSecretBox(key);
  } catch (error) {
    return [{ name, state: 'failed', detail: reasonOf(error), fix: 'openssl rand -base64 32 makes one' }];
  }
  const { sealed, unreadable } = await checkSealedIntegrations(db, box);
  if (unreadable.length === 0) return [{ name, state: 'ok', detail: `opens what is sealed (${sealed})` }];
  const shown = unreadable
    .slice(0, 3)
    .map(({ provider, organization, environment }) => `${provider} in ${environment} of ${organization}`);
  return [
    {
      name,
      state: 'failed',
      detail: `does not open ${unreadable.length} of ${sealed} sealed integrations: ${shown.join('; ')}${unreadable.length > 3 ? '; …' : ''}`,
      fix: 'Set the SECRETS_KEY that they were sealed with (several, separated by commas); or set them again: parley integrations set',
    },
  ];
}

/** Whether strangers may write identities, as far as it is known here, and what they have asked to be deleted. */
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
        'IDENTITY_WEBHOOK_SECRET is not set here: without it /webhook/clerk refuses them in production and accepts unsigned ones in development',
      fix: 'Set IDENTITY_WEBHOOK_SECRET where webhook-ingest runs, to the signing secret that Clerk shows for the endpoint',
    });
  return findings.length > 0 ? findings : [{ name, state: 'ok', detail: 'IDENTITY_WEBHOOK_SECRET is set' }];
}

export async function checkRedis(): Promise<Finding[]> {
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
        fix: 'redis-cli config set maxmemory-policy noeviction',
      },
    ];
  } catch (error) {
    // The wait only says that it took too long; why is what the connection has said meanwhile.
    const detail = redis.status === 'ready' ? reasonOf(error) : `does not answer: ${reasonOf(refusal ?? error)}`;
    return [{ name, state: 'failed', detail, fix: 'Start Redis, or fix REDIS_URL' }];
  } finally {
    await closeRedis(redis);
  }
}
