import type { Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export interface ConnectionSummary {
  id: string;
  /** `pending`: until the number is connected at the intermediary. */
  status: 'pending' | 'connected';
  phoneNumber: string | null;
  phoneNumberId: string | null;
  customerId: string | null;
  /** Slug of the agent or of the router that answers. */
  agent: string | null;
  router: string | null;
  contactType: string | null;
}

/** The connections of an environment, oldest first. */
export async function listConnections(
  db: Queryable,
  { organizationId, environment }: Scope,
): Promise<ConnectionSummary[]> {
  const { rows } = await db.raw<ConnectionSummary>(
    `select id, status, phone_number as "phoneNumber", phone_number_id as "phoneNumberId",
            external_customer_id as "customerId", agent_slug as agent, router_slug as router,
            contact_type as "contactType"
     from channel_connections where organization_id = $1 and environment = $2::"Environment" order by created_at`,
    [organizationId, environment],
  );
  return rows;
}
