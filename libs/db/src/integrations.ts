import type { Environment, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from './client';
import { newId } from './id';
import type { SecretBox } from './secrets';
import { scopeColumns, scopeRow } from './scope-columns';
import { type RowOf, column, statement } from './statement';

/** A provider as one environment of an organization has configured it. */
export interface Integration {
  id: string;
  scope: Scope;
  provider: string;
  active: boolean;
  /** What may be shown. */
  config: JsonObject;
  /** What may not be shown, opened; null when no key in SECRETS_KEY opens it. */
  secrets: JsonObject | null;
}

/** What the secrets of an integration are sealed for: they open in no other row. */
export const integrationSecretContext = (scope: Scope, provider: string): string =>
  `${scope.organizationId}/${scope.environment}/integration/${provider}`;

const integrationRow = {
  ...scopeRow,
  id: column.text,
  provider: column.text,
  active: column.bool,
  config: column.jsonb<JsonObject>(),
  secrets: column.bytea.nullable,
};
type Row = RowOf<typeof integrationRow>;

const columns = `${scopeColumns()}, id, provider, active, config, secrets`;

const findOne = statement(
  'find-integration',
  `select ${columns} from integrations where tenant = $1 and environment = $2::"Environment" and provider = $3`,
  integrationRow,
);

/** The integration of an environment, active or not; null when there is none. */
export async function findIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  provider: string,
): Promise<Integration | null> {
  const { rows } = await db.query(scope, findOne, [scope.tenant, scope.environment, provider]);
  return rows[0] === undefined ? null : toIntegration(box, rows[0]);
}

const activeOfEnvironment = statement(
  'environment-integrations',
  `select id, updated_at::text as revision, provider, config, secrets from integrations
   where tenant = $1 and environment = $2::"Environment" and active order by provider`,
  {
    id: column.text,
    revision: column.text,
    provider: column.text,
    config: column.jsonb<JsonObject>(),
    secrets: column.bytea.nullable,
  },
);

/**
 * The active integrations of an environment, by provider. Their secrets are still sealed: whoever reads several says which
 * of them does not open. `revision` changes with every change.
 */
export async function listEnvironmentIntegrations(db: Queryable, scope: Scope) {
  return (await db.query(scope, activeOfEnvironment, [scope.tenant, scope.environment])).rows;
}

const allOfEnvironment = statement(
  'list-integrations',
  `select ${columns} from integrations where tenant = $1 and environment = $2::"Environment" order by provider`,
  integrationRow,
);

/** The integrations of an environment, active or not, by provider. */
export async function listIntegrations(db: Queryable, box: SecretBox, scope: Scope): Promise<Integration[]> {
  const { rows } = await db.query(scope, allOfEnvironment, [scope.tenant, scope.environment]);
  return rows.map((row) => toIntegration(box, row));
}

const activeOfProvider = statement(
  'list-active-integrations',
  `select ${columns} from integrations i where provider = $1 and active
     and exists (select from organizations o where o.no = i.tenant and o.deleted_at is null)
   order by id`,
  integrationRow,
);

/** The active integrations of a provider, in all environments of all organizations. */
export async function listActiveIntegrations(db: Queryable, box: SecretBox, provider: string): Promise<Integration[]> {
  const { rows } = await db.acrossTenants('due work', activeOfProvider, [provider]);
  return rows.map((row) => toIntegration(box, row));
}

const save = statement(
  'save-integration',
  `insert into integrations (id, tenant, environment, provider, active, config, secrets, updated_at)
   values ($1, $2, $3::"Environment", $4, true, $5, $6, now())
   on conflict (tenant, environment, provider) do update
   set active = true, config = excluded.config, secrets = excluded.secrets, updated_at = excluded.updated_at`,
);

/** Configures a provider in an environment, or replaces its configuration; it is active from then on. */
export async function saveIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  { provider, config, secrets }: { provider: string; config: JsonObject; secrets: JsonObject },
): Promise<void> {
  const sealed = box.seal(JSON.stringify(secrets), integrationSecretContext(scope, provider));
  const { tenant, environment } = scope;
  await db.query(scope, save, [newId('int'), tenant, environment, provider, JSON.stringify(config), sealed]);
}

const switchActive = statement(
  'switch-integration',
  `with found as (select id, active from integrations
                  where tenant = $1 and environment = $2::"Environment" and provider = $3 for update)
   update integrations i set active = $4, updated_at = now() from found where i.tenant = $1 and i.id = found.id
   returning found.active <> $4 as changed`,
  { changed: column.bool },
);

/**
 * Switches an integration off, or on again, with all its settings; off is as if it were not there. Answers whether that
 * changed anything; null when there is none.
 */
export async function switchIntegration(
  db: Queryable,
  scope: Scope,
  provider: string,
  active: boolean,
): Promise<boolean | null> {
  const { rows } = await db.query(scope, switchActive, [scope.tenant, scope.environment, provider, active]);
  return rows[0]?.changed ?? null;
}

const remove = statement(
  'remove-integration',
  'delete from integrations where tenant = $1 and environment = $2::"Environment" and provider = $3',
);

/** Forgets an integration with its secrets. False when there is none. */
export async function removeIntegration(db: Queryable, scope: Scope, provider: string): Promise<boolean> {
  const { rowCount } = await db.query(scope, remove, [scope.tenant, scope.environment, provider]);
  return rowCount === 1;
}

function toIntegration(box: SecretBox, row: Row): Integration {
  const { id, organizationId, tenant, environment, provider, active, config } = row;
  return { id, scope: { organizationId, tenant, environment }, provider, active, config, secrets: open(box, row) };
}

function open(box: SecretBox, row: Row): JsonObject | null {
  if (row.secrets === null) return {};
  try {
    return JSON.parse(box.open(row.secrets, integrationSecretContext(row, row.provider))) as JsonObject;
  } catch {
    return null;
  }
}

const sealedRows = statement(
  'sealed-integrations',
  `select ${columns}, (select slug from organizations where no = tenant) as organization
   from integrations where secrets is not null order by id`,
  { ...integrationRow, organization: column.text },
);

const reseal = statement(
  'reseal-integration',
  'update integrations set secrets = $3 where tenant = $1 and id = $2 and secrets = $4',
);

/**
 * Seals again what an older key of SECRETS_KEY has sealed, so that the older one can be taken away. A row that is changed
 * meanwhile was sealed by its writer.
 */
export async function resealIntegrations(
  db: Queryable,
  box: SecretBox,
): Promise<{ resealed: number; unreadable: string[] }> {
  const { rows } = await db.acrossTenants('operator command', sealedRows);
  let resealed = 0;
  const unreadable: string[] = [];
  for (const row of rows.filter(({ secrets }) => box.isStale(secrets!))) {
    const { scope, provider, secrets } = toIntegration(box, row);
    if (secrets === null) {
      unreadable.push(row.id);
      continue;
    }
    const sealed = box.seal(JSON.stringify(secrets), integrationSecretContext(scope, provider));
    const { rowCount } = await db.query(scope, reseal, [row.tenant, row.id, sealed, row.secrets]);
    resealed += rowCount;
  }
  return { resealed, unreadable };
}

/** Whether what is sealed opens: how many integrations have secrets, and those that no key of SECRETS_KEY opens. */
export async function checkSealedIntegrations(
  db: Queryable,
  box: SecretBox,
): Promise<{ sealed: number; unreadable: { provider: string; environment: Environment; organization: string }[] }> {
  const { rows } = await db.acrossTenants('operator command', sealedRows);
  const closed = rows.filter((row) => open(box, row) === null);
  const unreadable = closed.map(({ provider, environment, organization }) => ({ provider, environment, organization }));
  return { sealed: rows.length, unreadable };
}
