import {
  type Scope,
  type ToolSecretChange,
  type ToolSecretList,
  toolSecretLimits,
} from '@parley/contracts';
import {
  type Queryable,
  type SealedValue,
  type SecretBox,
  column,
  lockKey,
  purgeRows,
  scopeColumns,
  scopeRow,
  statement,
} from '@parley/db';

/** The context under which a secret is encrypted. It cannot be decrypted in another row. */
const contextOf = ({ organizationId, environment }: Scope, name: string): string =>
  `${organizationId}/${environment}/tool-secret/${name}`;

const inEnvironment = 'tenant = $tenant and environment = $environment::"Environment"';

const save = statement(
  'save-tool-secret',
  `insert into tool_secrets (tenant, environment, name, value, set_at)
   select $tenant, $environment::"Environment", $name, $sealed, clock_timestamp()
   where exists (select from tool_secrets where ${inEnvironment} and name = $name)
      or (select count(*) from tool_secrets where ${inEnvironment}) < ${toolSecretLimits.perEnvironment}
   on conflict (tenant, environment, name) do update set value = excluded.value, set_at = excluded.set_at
   returning set_at`,
  { set_at: column.timestamptz },
);

/**
 * Creates or replaces a secret, in the transaction `tx`. Null when the environment has
 * as many as it may.
 */
export async function setToolSecret(
  tx: Queryable,
  box: SecretBox,
  scope: Scope,
  { name, value }: { name: string; value: string },
): Promise<ToolSecretChange | null> {
  const sealed = box.seal(value, contextOf(scope, name));
  // Two calls at the same time would both count the same rows.
  await tx.query(scope, lockKey, {
    key: `parley-tool-secrets-${scope.organizationId}-${scope.environment}`,
  });
  const { rows } = await tx.query(scope, save, { environment: scope.environment, name, sealed });
  return rows[0] === undefined ? null : { name, setAt: rows[0].set_at.getTime() };
}

const remove = statement(
  'delete-tool-secret',
  `delete from tool_secrets where ${inEnvironment} and name = $name`,
);

/** Deletes a secret. Returns false when it is not set. */
export async function deleteToolSecret(
  db: Queryable,
  scope: Scope,
  name: string,
): Promise<boolean> {
  const { rowCount } = await db.query(scope, remove, { environment: scope.environment, name });
  return rowCount === 1;
}

const list = statement(
  'list-tool-secrets',
  `with declared as (
     select secret as name, array_agg(t.name order by t.name collate "C") as tools
     from tools t, json_array_elements_text(t.definition->'secrets') secret
     where ${inEnvironment} group by secret)
   select coalesce(s.name, d.name) as name, s.set_at, coalesce(d.tools, '{}') as tools
   from (select name, set_at from tool_secrets where ${inEnvironment}) s full join declared d on d.name = s.name
   order by coalesce(s.name, d.name) collate "C"`,
  { name: column.text, set_at: column.timestamptz.nullable, tools: column.textArray },
);

/** The secrets that are set and those that tools declare, without their values. */
export async function listToolSecrets(
  db: Queryable,
  scope: Scope,
): Promise<ToolSecretList['data']> {
  const { rows } = await db.query(scope, list, { environment: scope.environment });
  return rows.map(({ name, set_at, tools }) => ({ name, setAt: set_at?.getTime() ?? null, tools }));
}

const byName = statement(
  'tool-secrets-by-name',
  `select name, value from tool_secrets where ${inEnvironment} and name = any($names)`,
  { name: column.text, value: column.bytea },
);

/**
 * The values of the secrets with these names, read at each call so that a new value holds from
 * the next call on.
 */
export async function readToolSecrets(
  db: Queryable,
  box: SecretBox,
  scope: Scope,
  names: readonly string[],
): Promise<{ values: Record<string, string>; missing: string[]; unreadable: string[] }> {
  const { rows } = await db.query(scope, byName, { environment: scope.environment, names });
  const opened = new Map(
    rows.map(({ name, value }) => [name, box.tryOpen(value, contextOf(scope, name))]),
  );
  return {
    values: Object.fromEntries(
      [...opened].filter((entry): entry is [string, string] => entry[1] !== null),
    ),
    missing: names.filter((name) => !opened.has(name)),
    unreadable: names.filter((name) => opened.get(name) === null),
  };
}

const sealedRow = { ...scopeRow, name: column.text, value: column.bytea };

const sealedRows = statement(
  'sealed-tool-secrets',
  `select ${scopeColumns()}, name, value
   from tool_secrets order by tenant, environment, name`,
  sealedRow,
);

const reseal = statement(
  'reseal-tool-secret',
  `update tool_secrets set value = $sealed where ${inEnvironment} and name = $name and value = $previous`,
);

/** The stored secrets of all tools. */
export async function sealedToolSecrets(db: Queryable): Promise<SealedValue[]> {
  const { rows } = await db.acrossTenants('operator command', sealedRows);
  return rows.map((row) => ({
    name: `tool secret ${row.name} in ${row.environment} of ${row.organizationId}`,
    sealed: row.value,
    context: contextOf(row, row.name),
    replace: (sealed) =>
      db.query(row, reseal, {
        environment: row.environment,
        name: row.name,
        sealed,
        previous: row.value,
      }),
  }));
}

export const toolSecretsPurge = purgeRows(['tool_secrets'], 'name');
