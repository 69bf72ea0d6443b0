import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const connectionsOfEnvironment = statement(
  'list-connections',
  `select id, status, phone_number as "phoneNumber", phone_number_id as "phoneNumberId",
          external_customer_id as "customerId", agent_slug as agent, router_slug as router,
          contact_type as "contactType", webhook_attempts > 0 as "webhookProblem"
   from channel_connections where tenant = $tenant and environment = $environment::"Environment" order by created_at`,
  {
    id: column.text,
    /** `pending` until the number is connected in Kapso. */
    status: column.oneOf<'pending' | 'connected'>('ConnectionStatus'),
    phoneNumber: column.text.nullable,
    phoneNumberId: column.text.nullable,
    customerId: column.text.nullable,
    /** Slug of the agent or router that answers. */
    agent: column.text.nullable,
    router: column.text.nullable,
    contactType: column.text.nullable,
    /** The last registrations of the webhook failed. */
    webhookProblem: column.bool,
  },
);

/** Lists the connections of an environment, oldest first. */
export async function listConnections(db: Queryable, scope: Scope) {
  return (await db.query(scope, connectionsOfEnvironment, { environment: scope.environment })).rows;
}

const change = statement(
  'update-connection',
  `update channel_connections
   set agent_slug = case when $changesAnswerer then $agent else agent_slug end,
       router_slug = case when $changesAnswerer then $router else router_slug end,
       contact_type = case when $changesContactType then $contactType else contact_type end, updated_at = now()
   where tenant = $tenant and environment = $environment::"Environment" and id = $id`,
);

/** Changes who answers a connection, and the entity type of its contacts. Absent fields stay. */
export async function updateConnection(
  tx: Queryable,
  scope: Scope,
  id: string,
  { agent, router, contactType }: { agent?: string; router?: string; contactType?: string | null },
): Promise<void> {
  await tx.query(scope, change, {
    environment: scope.environment,
    id,
    changesAnswerer: agent !== undefined || router !== undefined,
    agent: agent ?? null,
    router: router ?? null,
    changesContactType: contactType !== undefined,
    contactType: contactType ?? null,
  });
}
