import { type ScopeOptions, withScope } from '../scope';
import { formatTable, note, print, printJson } from '../terminal';

interface Row {
  id: string;
  status: string;
  phoneNumber: string | null;
  phoneNumberId: string | null;
  customerId: string | null;
  agent: string | null;
  router: string | null;
  contactType: string | null;
}

/** `parley channels list`: the numbers of an environment and who answers them. */
export async function runChannelsList({ json, ...options }: ScopeOptions & { json?: boolean }): Promise<void> {
  const { name, connections } = await withScope(options, async (db, scope) => {
    const { rows } = await db.query<Row>(
      `select id, status, phone_number as "phoneNumber", phone_number_id as "phoneNumberId",
              external_customer_id as "customerId", agent_slug as agent, router_slug as router,
              contact_type as "contactType"
       from channel_connections where organization_id = $1 and environment = $2::"Environment" order by created_at`,
      [scope.organizationId, scope.environment],
    );
    return { name: scope.name, connections: rows };
  });
  if (json) return printJson({ connections });
  if (connections.length === 0) return note(`No connections in ${name}`);
  print(
    formatTable(
      ['CONNECTION', 'STATE', 'NUMBER', 'NUMBER ID', 'CUSTOMER', 'ANSWERED BY', 'CONTACT TYPE'],
      connections.map((row) => [
        row.id,
        row.status,
        row.phoneNumber ?? '-',
        row.phoneNumberId ?? '-',
        row.customerId ?? '-',
        row.agent ?? row.router ?? '-',
        row.contactType ?? '-',
      ]),
    ),
  );
}
