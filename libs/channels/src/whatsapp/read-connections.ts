import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const connectionsOfEnvironment = statement(
  'list-connections',
  `select id, status, phone_number as "phoneNumber", phone_number_id as "phoneNumberId",
          external_customer_id as "customerId", agent_slug as agent, router_slug as router,
          contact_type as "contactType"
   from channel_connections where tenant = $1 and environment = $2::"Environment" order by created_at`,
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
  },
);

/** Lists the connections of an environment, oldest first. */
export async function listConnections(db: Queryable, scope: Scope) {
  return (await db.query(scope, connectionsOfEnvironment, [scope.tenant, scope.environment])).rows;
}
