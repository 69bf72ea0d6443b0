import type { Environment, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

/** A connected number of an organization that is not being deleted. */
export interface KnownNumber {
  connectionId: string;
  organizationId: string;
  environment: Environment;
}

/** Whose these numbers are; those that no connection has are left out. */
export async function findNumbers(db: Queryable, phoneNumberIds: string[]): Promise<Map<string, KnownNumber>> {
  const { rows } = await db.raw<KnownNumber & { phoneNumberId: string }>({
    name: 'connections-by-phone-number-id',
    text: `select c.phone_number_id as "phoneNumberId", c.id as "connectionId",
                  c.organization_id as "organizationId", c.environment
           from channel_connections c
           join organizations o on o.id = c.organization_id and o.deleted_at is null
           where c.phone_number_id = any($1)`,
    values: [phoneNumberIds],
  });
  return new Map(rows.map(({ phoneNumberId, ...known }) => [phoneNumberId, known]));
}

/** Which agent or router answers on a connection. */
interface Answering extends Scope {
  agentSlug: string | null;
  routerSlug: string | null;
  isConnected: boolean;
}

/** Who answers on connections, each once: in one environment, or with `scope` null in all. */
export async function listAnswering(db: Queryable, scope: Scope | null): Promise<Answering[]> {
  const { rows } = await db.raw<Answering>(
    `select distinct organization_id as "organizationId", environment, agent_slug as "agentSlug",
            router_slug as "routerSlug", status = 'connected' as "isConnected"
     from channel_connections where $1::text is null or organization_id = $1 and environment = $2::"Environment"`,
    [scope?.organizationId ?? null, scope?.environment ?? null],
  );
  return rows;
}
