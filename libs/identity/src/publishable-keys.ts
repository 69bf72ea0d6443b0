import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Environment, Scope } from '@parley/contracts';
import {
  type Db,
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  type SealedValue,
  type SecretBox,
  column,
  listStatement,
  newId,
  pageValues,
  scopeColumns,
  scopeRow,
  statement,
  toPaged,
} from '@parley/db';
import { type LookUpLimit, createUnknownKeyLimit, noLimit } from './unknown-keys';

/** Maximum numbers of requests in a minute. */
export interface VisitorLimits {
  perVisitor: number;
  perAddress: number;
  perKey: number;
}

export interface NewPublishableKey {
  name: string;
  agentSlug?: string;
  routerSlug?: string;
  origins: string[];
  limits: VisitorLimits;
}

const prefixes: Record<Environment, string> = { development: 'pk_dev_', production: 'pk_prod_' };
const keyPattern = /^pk_(dev|prod)_[A-Za-z0-9_-]{22}$/;

const contextOf = ({ organizationId }: Scope, id: string) =>
  `${organizationId} publishable-key ${id}`;

/** The customer's server signs the identity of a visitor with this text. */
const identitySecretOf = (secret: string) => derive(secret, 'identity').toString('base64url');
const derive = (secret: string, use: string) =>
  createHmac('sha256', Buffer.from(secret, 'base64url')).update(use).digest();

const summaryRow = {
  id: column.text,
  name: column.text,
  key: column.text,
  agentSlug: column.text.nullable,
  routerSlug: column.text.nullable,
  origins: column.textArray,
  perVisitor: column.int4,
  perAddress: column.int4,
  perKey: column.int4,
  createdAt: column.timestamptz,
  revokedAt: column.timestamptz.nullable,
};
export type PublishableKey = RowOf<typeof summaryRow>;

const summarySql = `id, name, key, agent_slug as "agentSlug", router_slug as "routerSlug", origins, per_visitor as "perVisitor",
  per_address as "perAddress", per_key as "perKey", created_at as "createdAt", revoked_at as "revokedAt"`;

const insert = statement(
  'create-publishable-key',
  `insert into publishable_keys (id, tenant, environment, name, key, agent_slug, router_slug, origins, per_visitor, per_address,
                                 per_key, secret)
   values ($id, $tenant, $environment::"Environment", $name, $key, $agentSlug, $routerSlug, $origins, $perVisitor,
     $perAddress, $perKey, $secret) returning ${summarySql}`,
  summaryRow,
);

/**
 * Creates a key and the secret that signs identities of its visitors. The secret
 * cannot be read again.
 */
export async function createPublishableKey(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  { name, agentSlug, routerSlug, origins, limits }: NewPublishableKey,
): Promise<{ created: PublishableKey; identitySecret: string }> {
  const id = newId('pkey');
  const key = prefixes[scope.environment] + randomBytes(16).toString('base64url');
  const secret = randomBytes(32).toString('base64url');
  const { rows } = await db.query(scope, insert, {
    id,
    environment: scope.environment,
    name,
    key,
    agentSlug: agentSlug ?? null,
    routerSlug: routerSlug ?? null,
    origins,
    perVisitor: limits.perVisitor,
    perAddress: limits.perAddress,
    perKey: limits.perKey,
    secret: box.seal(secret, contextOf(scope, id)),
  });
  return { created: rows[0]!, identitySecret: identitySecretOf(secret) };
}

const keysOfEnvironment = listStatement(
  'list-publishable-keys',
  `select ${summarySql} from publishable_keys
   where tenant = $tenant and environment = $environment::"Environment"
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  summaryRow,
);

/** The publishable keys of an environment, newest first. */
export async function listPublishableKeys(
  db: Queryable,
  scope: Scope,
  page: Page,
): Promise<Paged<PublishableKey>> {
  const { rows } = await db.query(scope, keysOfEnvironment, {
    environment: scope.environment,
    ...pageValues(page),
  });
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}

const revoke = statement(
  'revoke-publishable-key',
  `update publishable_keys set revoked_at = coalesce(revoked_at, now())
   where tenant = $tenant and environment = $environment::"Environment" and id = $id returning ${summarySql}`,
  summaryRow,
);

/** Revokes a key; null when there is none. Every process refuses it and its sessions within 1 s. */
export async function revokePublishableKey(
  tx: Queryable,
  scope: Scope,
  id: string,
): Promise<PublishableKey | null> {
  return (await tx.query(scope, revoke, { environment: scope.environment, id })).rows[0] ?? null;
}

const websiteRow = { ...scopeRow, ...summaryRow, secret: column.bytea };

const keyByText = statement(
  'publishable-key-by-text',
  `select p.*, o.id as "organizationId" from (
     select tenant, environment::text as environment, secret, ${summarySql} from publishable_keys where key = $key
   ) p join organizations o on o.no = p.tenant
   where p."revokedAt" is null and o.deleted_at is null`,
  websiteRow,
);

/** A publishable key as requests of visitors use it. */
export interface Website {
  id: string;
  scope: Scope;
  name: string;
  agentSlug: string | null;
  routerSlug: string | null;
  origins: string[];
  limits: VisitorLimits;
  /** Signs the tokens of sessions. */
  tokenKey: Buffer;
  /** Signs the identities of visitors. */
  identityKey: Buffer;
}

const validMs = 800;
const unknownMs = 60_000;

/**
 * Looks up publishable keys, for the address of a request. A revoked key is refused within 1 s; an
 * unknown one cannot become valid later. Rejects with the limit's `refusal` when an address has
 * sent too many unknown keys.
 */
export function createFindWebsite(
  db: Db,
  box: SecretBox,
  limit: LookUpLimit = noLimit,
  clock: () => number = () => performance.now(),
): (key: string, address?: string) => Promise<Website | null> {
  const lookUp = createUnknownKeyLimit('keys', limit, clock);
  const websites = new LRUCache<string, { website: Website | null }, string>({
    max: 10_000,
    perf: { now: clock },
    ttlResolution: 0,
    ignoreFetchAbort: true,
    async fetchMethod(key, old, { options, context: address }) {
      let askedAtMs = 0;
      const find = async () => {
        askedAtMs = clock();
        return (await db.acrossTenants('key look-up', keyByText, { key })).rows[0] ?? null;
      };
      // A key that was valid at its last look-up does not depend on what else its address sends.
      const row = await (old?.website ? find() : lookUp(address, find));
      // The age counts from the start of the query.
      options.ttl = row ? Math.max(1, validMs - (clock() - askedAtMs)) : unknownMs;
      return { website: row ? toWebsite(row, box) : null };
    },
  });
  return async (key, address = '') =>
    keyPattern.test(key) ? (await websites.forceFetch(key, { context: address })).website : null;
}

function toWebsite(row: RowOf<typeof websiteRow>, box: SecretBox): Website {
  const { id, name, agentSlug, routerSlug, origins, organizationId, tenant, environment } = row;
  const { perVisitor, perAddress, perKey } = row;
  const scope = { organizationId, tenant, environment };
  const secret = box.open(row.secret, contextOf(scope, id));
  return {
    id,
    scope,
    name,
    agentSlug,
    routerSlug,
    origins,
    limits: { perVisitor, perAddress, perKey },
    tokenKey: derive(secret, 'session'),
    identityKey: Buffer.from(identitySecretOf(secret)),
  };
}

const sealedRow = { ...scopeRow, id: column.text, secret: column.bytea };

const sealedRows = statement(
  'sealed-publishable-keys',
  `select ${scopeColumns()}, id, secret from publishable_keys order by tenant, id`,
  sealedRow,
);

const reseal = statement(
  'reseal-publishable-key',
  'update publishable_keys set secret = $sealed where tenant = $tenant and id = $id and secret = $previous',
);

/** The stored secrets of all publishable keys. */
export async function sealedPublishableKeys(db: Queryable): Promise<SealedValue[]> {
  const { rows } = await db.acrossTenants('operator command', sealedRows);
  return rows.map((row) => ({
    name: `publishable key ${row.id} of ${row.organizationId}`,
    sealed: row.secret,
    context: contextOf(row, row.id),
    replace: (sealed) => db.query(row, reseal, { id: row.id, sealed, previous: row.secret }),
  }));
}
