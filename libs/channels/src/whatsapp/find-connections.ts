import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, scopeColumns, scopeRow, statement } from '@parley/db';

const numberRow = { connectionId: column.text, ...scopeRow };

/** A connected number of an organization that is not being deleted. */
export type KnownNumber = RowOf<typeof numberRow>;

const numbers = statement(
  'connections-by-phone-number-id',
  `select c.phone_number_id as "phoneNumberId", c.id as "connectionId",
          o.id as "organizationId", c.tenant, c.environment::text as environment
   from channel_connections c
   join organizations o on o.no = c.tenant and o.deleted_at is null
   where c.phone_number_id = any($phoneNumberIds)`,
  { phoneNumberId: column.text, ...numberRow },
);

/** Finds the connections of phone numbers. Numbers without a connection are left out. */
export async function findNumbers(
  db: Queryable,
  phoneNumberIds: string[],
): Promise<Map<string, KnownNumber>> {
  const { rows } = await db.acrossTenants('inbound webhook', numbers, { phoneNumberIds });
  return new Map(rows.map(({ phoneNumberId, ...known }) => [phoneNumberId, known]));
}

const answering = statement(
  'answering-on-connections',
  `select distinct ${scopeColumns()}, agent_slug as "agentSlug",
          router_slug as "routerSlug", status = 'connected' as "isConnected"
   from channel_connections where $tenant::int is null or tenant = $tenant
     and environment = $environment::"Environment"`,
  {
    ...scopeRow,
    agentSlug: column.text.nullable,
    routerSlug: column.text.nullable,
    isConnected: column.bool,
  },
);

/**
 * Lists the distinct agents and routers of connections, in one environment or, if `scope`
 * is null, in all.
 */
export async function listAnswering(db: Queryable, scope: Scope | null) {
  const { rows } =
    scope === null
      ? await db.acrossTenants('metrics', answering, { tenant: null, environment: null })
      : await db.query(scope, answering, { environment: scope.environment });
  return rows;
}
