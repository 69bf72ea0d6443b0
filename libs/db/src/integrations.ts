import type { Environment, JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from './client';
import { newId } from './id';
import type { SecretBox } from './secrets';

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

interface SealedRow {
  organization_id: string;
  environment: Environment;
  provider: string;
  secrets: Buffer | null;
}

interface Row extends SealedRow {
  id: string;
  active: boolean;
  config: JsonObject;
}

const columns = 'id, organization_id, environment, provider, active, config, secrets';

/** The integration of an environment, active or not; null when there is none. */
export async function findIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  provider: string,
): Promise<Integration | null> {
  const { rows } = await db.query<Row>({
    name: 'find-integration',
    text: `select ${columns} from integrations where organization_id = $1 and environment = $2::"Environment" and provider = $3`,
    values: [scope.organizationId, scope.environment, provider],
  });
  return rows[0] === undefined ? null : toIntegration(box, rows[0]);
}

/**
 * The active integrations of an environment, by provider. Their secrets are still sealed: whoever reads several says which
 * of them does not open. `revision` changes with every change.
 */
export async function listEnvironmentIntegrations(db: Queryable, scope: Scope) {
  const { rows } = await db.query<Pick<Row, 'id' | 'provider' | 'config' | 'secrets'> & { revision: string }>({
    name: 'environment-integrations',
    text: `select id, updated_at::text as revision, provider, config, secrets from integrations
           where organization_id = $1 and environment = $2::"Environment" and active order by provider`,
    values: [scope.organizationId, scope.environment],
  });
  return rows;
}

/** The integrations of an environment, active or not, by provider. */
export async function listIntegrations(
  db: Queryable,
  box: SecretBox,
  { organizationId, environment }: Scope,
): Promise<Integration[]> {
  const { rows } = await db.query<Row>(
    `select ${columns} from integrations where organization_id = $1 and environment = $2::"Environment" order by provider`,
    [organizationId, environment],
  );
  return rows.map((row) => toIntegration(box, row));
}

/** The active integrations of a provider, in all environments of all organizations. */
export async function listActiveIntegrations(db: Queryable, box: SecretBox, provider: string): Promise<Integration[]> {
  const { rows } = await db.query<Row>({
    name: 'list-active-integrations',
    text: `select ${columns} from integrations i where provider = $1 and active
             and exists (select from organizations o where o.id = i.organization_id and o.deleted_at is null)
           order by id`,
    values: [provider],
  });
  return rows.map((row) => toIntegration(box, row));
}

/** Configures a provider in an environment, or configures it anew; it is active from then on. */
export async function saveIntegration(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  { provider, config, secrets }: { provider: string; config: JsonObject; secrets: JsonObject },
): Promise<void> {
  await db.query(
    `insert into integrations (id, organization_id, environment, provider, active, config, secrets, updated_at)
     values ($1, $2, $3::"Environment", $4, true, $5, $6, now())
     on conflict (organization_id, environment, provider)
     do update set active = true, config = excluded.config, secrets = excluded.secrets, updated_at = now()`,
    [
      newId('int'),
      scope.organizationId,
      scope.environment,
      provider,
      JSON.stringify(config),
      box.seal(JSON.stringify(secrets), integrationSecretContext(scope, provider)),
    ],
  );
}

/**
 * Switches an integration off, or on again, with all its settings; off is as if it were not there. Answers whether that
 * changed anything; null when there is none.
 */
export async function switchIntegration(
  db: Queryable,
  { organizationId, environment }: Scope,
  provider: string,
  active: boolean,
): Promise<boolean | null> {
  const { rows } = await db.query<{ changed: boolean }>(
    `with found as (select id, active from integrations
                    where organization_id = $1 and environment = $2::"Environment" and provider = $3 for update)
     update integrations i set active = $4, updated_at = now() from found where i.id = found.id
     returning found.active <> $4 as changed`,
    [organizationId, environment, provider, active],
  );
  return rows[0]?.changed ?? null;
}

/** Forgets an integration with its secrets. False when there is none. */
export async function removeIntegration(
  db: Queryable,
  { organizationId, environment }: Scope,
  provider: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    'delete from integrations where organization_id = $1 and environment = $2::"Environment" and provider = $3',
    [organizationId, environment, provider],
  );
  return rowCount === 1;
}

function toIntegration(box: SecretBox, row: Row): Integration {
  const scope = { organizationId: row.organization_id, environment: row.environment };
  const { id, provider, active, config } = row;
  return { id, scope, provider, active, config, secrets: open(box, scope, row) };
}

function open(box: SecretBox, scope: Scope, { secrets, provider }: SealedRow): JsonObject | null {
  if (secrets === null) return {};
  try {
    return JSON.parse(box.open(secrets, integrationSecretContext(scope, provider))) as JsonObject;
  } catch {
    return null;
  }
}

/**
 * Seals again what an older key of SECRETS_KEY has sealed, so that the older one can be taken away. A row that is changed
 * meanwhile was sealed by its writer.
 */
export async function resealIntegrations(
  db: Queryable,
  box: SecretBox,
): Promise<{ resealed: number; unreadable: string[] }> {
  const { rows } = await db.query<Row>(`select ${columns} from integrations where secrets is not null order by id`);
  let resealed = 0;
  const unreadable: string[] = [];
  for (const row of rows.filter(({ secrets }) => box.isStale(secrets!))) {
    const { scope, provider, secrets } = toIntegration(box, row);
    if (secrets === null) {
      unreadable.push(row.id);
      continue;
    }
    const sealed = box.seal(JSON.stringify(secrets), integrationSecretContext(scope, provider));
    const { rowCount } = await db.query('update integrations set secrets = $2 where id = $1 and secrets = $3', [
      row.id,
      sealed,
      row.secrets,
    ]);
    resealed += rowCount ?? 0;
  }
  return { resealed, unreadable };
}

/** Whether what is sealed opens: how many integrations have secrets, and those that no key of SECRETS_KEY opens. */
export async function checkSealedIntegrations(
  db: Queryable,
  box: SecretBox,
): Promise<{ sealed: number; unreadable: { provider: string; environment: Environment; organization: string }[] }> {
  const { rows } = await db.query<SealedRow & { organization: string }>(
    `select i.organization_id, i.environment, i.provider, i.secrets, o.slug as organization
     from integrations i join organizations o on o.id = i.organization_id where i.secrets is not null order by i.id`,
  );
  const closed = rows.filter((row) => open(box, { ...row, organizationId: row.organization_id }, row) === null);
  const unreadable = closed.map(({ provider, environment, organization }) => ({ provider, environment, organization }));
  return { sealed: rows.length, unreadable };
}
