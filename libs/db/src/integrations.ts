import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from './client';
import { newId } from './id';
import type { SealedValue, SecretBox } from './secrets';
import { scopeColumns, scopeRow } from './scope-columns';
import { type RowOf, column, statement } from './statement';

/** The configuration of a provider in one environment of an organization. */
export interface Integration {
  id: string;
  scope: Scope;
  provider: string;
  active: boolean;
  /** Settings that are not secret. */
  config: JsonObject;
  /** The decrypted secrets; null when no key in SECRETS_KEY decrypts them. */
  secrets: JsonObject | null;
  updatedAt: Date;
}

/**
 * The context under which the secrets of an integration are encrypted. They cannot be
 * decrypted in another row.
 */
export const integrationSecretContext = (scope: Scope, provider: string): string =>
  `${scope.organizationId}/${scope.environment}/integration/${provider}`;

const integrationRow = {
  ...scopeRow,
  id: column.text,
  provider: column.text,
  active: column.bool,
  config: column.jsonb<JsonObject>(),
  secrets: column.bytea.nullable,
  updatedAt: column.timestamptz,
};
type Row = RowOf<typeof integrationRow>;

const columns = `${scopeColumns()}, id, provider, active, config, secrets, updated_at as "updatedAt"`;

const findOne = statement(
  'find-integration',
  `select ${columns} from integrations where tenant = $tenant and environment = $environment::"Environment"
     and provider = $provider`,
  integrationRow,
);

/**
 * Returns the integration of a provider in an environment, active or not; null when there is none.
 */
export async function findIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  provider: string,
): Promise<Integration | null> {
  const { rows } = await db.query(scope, findOne, { environment: scope.environment, provider });
  return rows[0] === undefined ? null : toIntegration(box, rows[0]);
}

const anyActive = statement(
  'any-active-integration',
  'select exists (select from integrations where provider = $provider and active) as "isActive"',
  { isActive: column.bool },
);

/** Whether any organization has an active integration of a provider. */
export async function hasActiveIntegration(db: Queryable, provider: string): Promise<boolean> {
  return (await db.acrossTenants('session look-up', anyActive, { provider })).rows[0]!.isActive;
}

const lockOne = statement(
  'lock-integration',
  `select ${columns} from integrations where tenant = $tenant and environment = $environment::"Environment"
     and provider = $provider for update`,
  integrationRow,
);

/**
 * The same, locked until the end of the transaction `tx`, so that concurrent changes of its
 * settings are all kept.
 */
export async function lockIntegration(
  tx: Queryable,
  box: SecretBox,
  scope: Scope,
  provider: string,
): Promise<Integration | null> {
  const { rows } = await tx.query(scope, lockOne, { environment: scope.environment, provider });
  return rows[0] === undefined ? null : toIntegration(box, rows[0]);
}

const activeOfEnvironment = statement(
  'environment-integrations',
  `select id, updated_at::text as revision, provider, config, secrets from integrations
   where tenant = $tenant and environment = $environment::"Environment" and active order by provider`,
  {
    id: column.text,
    revision: column.text,
    provider: column.text,
    config: column.jsonb<JsonObject>(),
    secrets: column.bytea.nullable,
  },
);

/**
 * Returns the active integrations of an environment, ordered by provider. Their secrets are
 * encrypted, so that the caller can report which of them cannot be decrypted. `revision` changes
 * with each update.
 */
export async function listEnvironmentIntegrations(db: Queryable, scope: Scope) {
  return (await db.query(scope, activeOfEnvironment, { environment: scope.environment })).rows;
}

const allOfEnvironment = statement(
  'list-integrations',
  `select ${columns} from integrations where tenant = $tenant and environment = $environment::"Environment"
     order by provider`,
  integrationRow,
);

/** Returns the integrations of an environment, active or not, ordered by provider. */
export async function listIntegrations(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
): Promise<Integration[]> {
  const { rows } = await db.query(scope, allOfEnvironment, { environment: scope.environment });
  return rows.map((row) => toIntegration(box, row));
}

const activeOfProvider = statement(
  'list-active-integrations',
  `select ${columns} from integrations i where provider = $provider and active
     and exists (select from organizations o where o.no = i.tenant and o.deleted_at is null)
   order by id`,
  integrationRow,
);

/** Returns the active integrations of a provider in all environments of all organizations. */
export async function listActiveIntegrations(
  db: Queryable,
  box: SecretBox,
  provider: string,
): Promise<Integration[]> {
  const { rows } = await db.acrossTenants('due work', activeOfProvider, { provider });
  return rows.map((row) => toIntegration(box, row));
}

const save = statement(
  'save-integration',
  `insert into integrations (id, tenant, environment, provider, active, config, secrets, updated_at)
   values ($id, $tenant, $environment::"Environment", $provider, $active, $config, $secrets, now())
   on conflict (tenant, environment, provider) do update
   set active = excluded.active, config = excluded.config, secrets = excluded.secrets, updated_at = excluded.updated_at`,
);

/**
 * Creates or replaces the integration of a provider in an environment, active unless
 * `active` is false.
 */
export async function saveIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  {
    provider,
    config,
    secrets,
    active = true,
  }: { provider: string; config: JsonObject; secrets: JsonObject; active?: boolean },
): Promise<void> {
  const sealed = box.seal(JSON.stringify(secrets), integrationSecretContext(scope, provider));
  await db.query(scope, save, {
    id: newId('int'),
    environment: scope.environment,
    provider,
    config: JSON.stringify(config),
    secrets: sealed,
    active,
  });
}

const switchActive = statement(
  'switch-integration',
  `with found as (select id, active from integrations
                  where tenant = $tenant and environment = $environment::"Environment"
                    and provider = $provider for update)
   update integrations i set active = $active, updated_at = now() from found where i.tenant = $tenant
     and i.id = found.id
   returning found.active <> $active as changed`,
  { changed: column.bool },
);

/**
 * Activates or deactivates an integration without changing its settings. Returns whether its state
 * has changed; null when there is no integration.
 */
export async function switchIntegration(
  db: Queryable,
  scope: Scope,
  provider: string,
  active: boolean,
): Promise<boolean | null> {
  const { rows } = await db.query(scope, switchActive, {
    environment: scope.environment,
    provider,
    active,
  });
  return rows[0]?.changed ?? null;
}

const remove = statement(
  'remove-integration',
  'delete from integrations where tenant = $tenant and environment = $environment::"Environment" and provider = $provider',
);

/** Deletes an integration with its secrets. Returns false when there is none. */
export async function removeIntegration(
  db: Queryable,
  scope: Scope,
  provider: string,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, remove, { environment: scope.environment, provider });
  return rowCount === 1;
}

function toIntegration(box: SecretBox, row: Row): Integration {
  const { organizationId, tenant, environment, secrets: _, ...integration } = row;
  return {
    ...integration,
    scope: { organizationId, tenant, environment },
    secrets: open(box, row),
  };
}

function open(box: SecretBox, row: Row): JsonObject | null {
  if (row.secrets === null) return {};
  const text = box.tryOpen(row.secrets, integrationSecretContext(row, row.provider));
  return text === null ? null : (JSON.parse(text) as JsonObject);
}

const sealedRows = statement(
  'sealed-integrations',
  `select ${columns}, (select slug from organizations where no = tenant) as organization
   from integrations where secrets is not null order by id`,
  { ...integrationRow, organization: column.text },
);

const reseal = statement(
  'reseal-integration',
  'update integrations set secrets = $sealed where tenant = $tenant and id = $id and secrets = $previous',
);

/** The stored secrets of all integrations. */
export async function sealedIntegrations(db: Queryable): Promise<SealedValue[]> {
  const { rows } = await db.acrossTenants('operator command', sealedRows);
  return rows.map((row) => ({
    name: `integration ${row.provider} in ${row.environment} of ${row.organization}`,
    sealed: row.secrets!,
    context: integrationSecretContext(row, row.provider),
    replace: (sealed) => db.query(row, reseal, { id: row.id, sealed, previous: row.secrets }),
  }));
}
