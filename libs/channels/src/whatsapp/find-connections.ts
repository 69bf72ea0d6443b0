import type { Environment, Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';

const numberRow = {
  connectionId: column.text,
  organizationId: column.text,
  environment: column.oneOf<Environment>('Environment'),
};

/** A connected number of an organization that is not being deleted. */
export type KnownNumber = RowOf<typeof numberRow>;

const numbers = statement(
  'connections-by-phone-number-id',
  `select c.phone_number_id as "phoneNumberId", c.id as "connectionId",
          c.organization_id as "organizationId", c.environment
   from channel_connections c
   join organizations o on o.id = c.organization_id and o.deleted_at is null
   where c.phone_number_id = any($1)`,
  { phoneNumberId: column.text, ...numberRow },
);

/** Whose these numbers are; those that no connection has are left out. */
export async function findNumbers(db: Queryable, phoneNumberIds: string[]): Promise<Map<string, KnownNumber>> {
  const { rows } = await db.acrossTenants('inbound webhook', numbers, [phoneNumberIds]);
  return new Map(rows.map(({ phoneNumberId, ...known }) => [phoneNumberId, known]));
}

const answering = statement(
  'answering-on-connections',
  `select distinct organization_id as "organizationId", environment, agent_slug as "agentSlug",
          router_slug as "routerSlug", status = 'connected' as "isConnected"
   from channel_connections where $1::text is null or organization_id = $1 and environment = $2::"Environment"`,
  {
    organizationId: column.text,
    environment: column.oneOf<Environment>('Environment'),
    agentSlug: column.text.nullable,
    routerSlug: column.text.nullable,
    isConnected: column.bool,
  },
);

/** Who answers on connections, each once: in one environment, or with `scope` null in all. */
export async function listAnswering(db: Queryable, scope: Scope | null) {
  const { rows } =
    scope === null
      ? await db.acrossTenants('metrics', answering, [null, null])
      : await db.query(scope, answering, [scope.organizationId, scope.environment]);
  return rows;
}
