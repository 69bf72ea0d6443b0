import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Caller, Environment, Permission, Scope } from '@parley/contracts';
import {
  type Db,
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  type Tenant,
  column,
  listStatement,
  newId,
  pageValues,
  scopeRow,
  statement,
  toPaged,
} from '@parley/db';
import { type LookUpLimit, createUnknownKeyLimit, noLimit } from './unknown-keys';

export interface NewApiKey {
  tenant: number;
  environment: Environment;
  name: string;
  permissions: Permission[];
  role?: string;
  expiresAt?: Date;
}

const prefixes: Record<Environment, string> = { development: 'sk_dev_', production: 'sk_prod_' };

/**
 * `sk_dev_` or `sk_prod_` and 32 random bytes in base64url. A text of another form is refused
 * without a query.
 */
const keyPattern = /^sk_(dev|prod)_[A-Za-z0-9_-]{43}$/;

const isApiKey = (text: string): boolean => keyPattern.test(text);

const hashOf = (key: string) => createHash('sha256').update(key).digest();

const insertKey = statement(
  'create-api-key',
  `insert into api_keys (id, tenant, environment, name, hash, prefix, permissions, role, expires_at)
   values ($id, $tenant, $environment::"Environment", $name, $hash, $prefix, $permissions, $role, $expiresAt)`,
);

/** Creates a key and returns it. Only its hash is stored, so the key cannot be read again. */
export async function createApiKey(
  db: Queryable,
  key: NewApiKey,
): Promise<{ id: string; key: string }> {
  const id = newId('key');
  const { environment, name, permissions, role, expiresAt } = key;
  const secret = prefixes[environment] + randomBytes(32).toString('base64url');
  const prefix = secret.slice(0, prefixes[environment].length + 6);
  await db.query(key, insertKey, {
    id,
    environment,
    name,
    hash: hashOf(secret),
    prefix,
    permissions,
    role,
    expiresAt,
  });
  return { id, key: secret };
}

const keySummaryRow = {
  id: column.text,
  name: column.text,
  environment: column.oneOf<Environment>(),
  prefix: column.text,
  permissions: column.textArray,
  role: column.text.nullable,
  createdAt: column.timestamptz,
  lastUsedAt: column.timestamptz.nullable,
  expiresAt: column.timestamptz.nullable,
  revokedAt: column.timestamptz.nullable,
};
export type ApiKeySummary = RowOf<typeof keySummaryRow>;

const summarySql = `id, name, environment::text as environment, prefix, permissions, role, created_at as "createdAt",
  last_used_at as "lastUsedAt", expires_at as "expiresAt", revoked_at as "revokedAt"`;

const keysOfOrganization = statement(
  'list-api-keys',
  `select ${summarySql} from api_keys where tenant = $tenant order by created_at desc, id desc`,
  keySummaryRow,
);

/** Lists the keys of an organization in all environments, newest first. */
export async function listApiKeys(db: Queryable, tenant: Tenant): Promise<ApiKeySummary[]> {
  return (await db.query(tenant, keysOfOrganization)).rows;
}

const keysOfEnvironment = listStatement(
  'list-environment-keys',
  `select ${summarySql} from api_keys
   where tenant = $tenant and environment = $environment::"Environment"
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  keySummaryRow,
);

/** The keys of an environment, newest first. */
export async function listEnvironmentKeys(
  db: Queryable,
  scope: Scope,
  page: Page,
): Promise<Paged<ApiKeySummary>> {
  const values = { environment: scope.environment, ...pageValues(page) };
  const { rows } = await db.query(scope, keysOfEnvironment, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const lockKeyById = statement(
  'lock-api-key',
  `select ${summarySql} from api_keys where tenant = $tenant and environment = $environment::"Environment"
     and id = $id for update`,
  keySummaryRow,
);

/** A key of an environment, locked until the end of the transaction; null when there is none. */
export async function lockApiKey(
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<ApiKeySummary | null> {
  return (
    (await tx.query(scope, lockKeyById, { environment: scope.environment, id })).rows[0] ?? null
  );
}

const expire = statement(
  'expire-api-key',
  `update api_keys set expires_at = least(expires_at, now() + make_interval(secs => $seconds)) where tenant = $tenant
     and id = $id`,
);

/** Makes a key expire after some seconds, unless it does so earlier. */
export async function expireApiKey(
  tx: Queryable,
  tenant: Tenant,
  id: string,
  seconds: number,
): Promise<void> {
  await tx.query(tenant, expire, { id, seconds });
}

const validKeysOfRoles = statement(
  'keys-of-roles',
  `select role, min(prefix) as prefix from api_keys
   where tenant = $tenant and environment = $environment::"Environment" and role = any($roles) and revoked_at is null
     and (expires_at is null or expires_at > now())
   group by role`,
  { role: column.text, prefix: column.text },
);

/**
 * Returns the given roles that are used by valid keys, each with the prefix of one of these keys.
 */
export async function keysOfRoles(db: Queryable, scope: Scope, roles: string[]) {
  return (await db.query(scope, validKeysOfRoles, { environment: scope.environment, roles })).rows;
}

const revoke = statement(
  'revoke-api-key',
  `with revoked as (
     update api_keys set revoked_at = now()
     where tenant = $tenant and (id = $id or prefix = $id or hash = $hash) and revoked_at is null returning id),
   ended as (
     update invitations i set revoked_at = now() from revoked r
     where i.tenant = $tenant and i.invited_by_key = r.id and i.accepted_at is null and i.revoked_at is null)
   select id from revoked`,
  { id: column.text },
);

/**
 * Revokes keys by id, visible prefix or the whole key, with the open invitations that they made,
 * and returns their number. Every process refuses them within 1 s.
 */
export async function revokeApiKey(db: Queryable, tenant: Tenant, key: string): Promise<number> {
  const hash = isApiKey(key) ? hashOf(key) : null;
  return (await db.query(tenant, revoke, { id: hash === null ? key : null, hash })).rowCount;
}

interface CacheEntry {
  identity: Caller | null;
  expiresAtMs: number;
}

/**
 * Time for which a valid key is cached. Together with the query it must stay below 1 s, the time
 * limit of a revocation.
 */
const positiveTtlMs = 800;
/**
 * Time for which an unknown key is cached. It cannot become valid later, because keys are
 * 32 random bytes.
 */
const negativeTtlMs = 60_000;
const cacheSize = 20_000;

export interface ApiKeyCheck {
  /**
   * Resolves with the caller of a bearer token, or null if the token is malformed, unknown, expired
   * or revoked. Rejects with the limit's `refusal` when the address may not look up a key that this
   * process does not know.
   */
  (token: string, address?: () => string): Promise<Caller | null>;
}

const keyRow = {
  ...scopeRow,
  id: column.text,
  name: column.text,
  permissions: column.textArray,
  role: column.text.nullable,
  expires_at: column.timestamptz.nullable,
  touch: column.bool,
  hash: column.text,
};

const validKeySql = (condition: string) =>
  `select k.id, k.name, o.id as "organizationId", k.tenant, k.environment::text as environment, k.permissions, k.role, k.expires_at,
          k.last_used_at is null or k.last_used_at < now() - interval '1 minute' as touch, encode(k.hash, 'hex') as hash
   from api_keys k join organizations o on o.no = k.tenant
   where ${condition} and k.revoked_at is null and o.deleted_at is null`;

const keyByHash = statement('api-key-by-hash', validKeySql('k.hash = $hash'), keyRow);
const keysByHash = statement(
  'api-keys-by-hash',
  validKeySql('k.hash = any($hashes::bytea[])'),
  keyRow,
);

const touch = statement(
  'touch-api-key',
  'update api_keys set last_used_at = now() where tenant = $tenant and id = $id',
);

/**
 * Creates the cached check of API keys. Concurrent checks of one key share a query. Rejects when
 * the database fails. Writes `last_used_at` at most once a minute per key.
 */
export function createApiKeyCheck(
  db: Db,
  clock: () => number = () => performance.now(),
  limit: LookUpLimit = noLimit,
): ApiKeyCheck {
  const lookUp = createUnknownKeyLimit('keys', limit, clock);
  const cache = new LRUCache<string, CacheEntry, () => string>({
    max: cacheSize,
    perf: { now: clock },
    // Reads the clock at each use: a cached time would keep a revoked key valid for longer.
    ttlResolution: 0,
    // A started query completes for its callers, even if its entry has been evicted.
    ignoreFetchAbort: true,
    fetchMethod: ask,
  });

  async function ask(
    token: string,
    old: CacheEntry | undefined,
    { options, context: address }: LRUCache.FetcherOptions<string, CacheEntry, () => string>,
  ) {
    let askedAtMs = 0;
    const find = async () => {
      askedAtMs = clock();
      return (
        (await db.acrossTenants('key look-up', keyByHash, { hash: hashOf(token) })).rows[0] ?? null
      );
    };
    // A key that was valid at its last look-up does not depend on what else its address sends.
    const row = await (old?.identity ? find() : lookUp(address(), find));
    if (row?.touch) db.query(row, touch, { id: row.id }).catch(() => {});
    // The age counts from the start of the query. The minimum is 1 ms, because an entry with 0
    // would never expire.
    options.ttl = row ? Math.max(1, positiveTtlMs - (clock() - askedAtMs)) : negativeTtlMs;
    return {
      identity: row ? toIdentity(row) : null,
      expiresAtMs: row?.expires_at?.getTime() ?? Infinity,
    };
  }

  return async (token, address = () => '') => {
    if (!isApiKey(token)) return null;
    const { identity, expiresAtMs } = await cache.forceFetch(token, { context: address });
    return expiresAtMs > Date.now() ? identity : null;
  };
}

function toIdentity(row: RowOf<typeof keyRow>): Caller {
  const { id, name, organizationId, tenant, environment, role } = row;
  const permissions = new Set(row.permissions as Permission[]);
  return { type: 'api_key', id, name, organizationId, tenant, environment, permissions, role };
}

/**
 * The callers of several tokens, with one statement and without a cache; null for each
 * that is not valid.
 */
export async function findCallers(db: Db, tokens: readonly string[]): Promise<(Caller | null)[]> {
  const hashes = tokens.map((token) => hashOf(token).toString('hex'));
  const distinct = [...new Set(hashes)].map((hash) => Buffer.from(hash, 'hex'));
  const { rows } = await db.acrossTenants('key look-up', keysByHash, { hashes: distinct });
  const valid = rows.filter(
    ({ expires_at }) => expires_at === null || expires_at.getTime() > Date.now(),
  );
  const callers = new Map(valid.map((row) => [row.hash, toIdentity(row)]));
  return hashes.map((hash) => callers.get(hash) ?? null);
}
