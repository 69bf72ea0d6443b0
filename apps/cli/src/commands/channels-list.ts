import { listConnections } from '@parley/channels';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, note, print, printJson } from '../terminal';

/** `parley channels list`: the connections of an environment, each with the agent or router that answers. */
export async function runChannelsList({ json, ...options }: ScopeOptions): Promise<void> {
  const { name, connections } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    connections: await listConnections(db, scope),
  }));
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
