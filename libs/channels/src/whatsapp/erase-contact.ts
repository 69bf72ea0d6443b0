import type { Scope } from '@parley/contracts';
import { type Queryable, statement } from '@parley/db';
import { contactOfThread } from './thread-key';

const eraseMessages = statement(
  'erase-messages-of-contact',
  'delete from messages where tenant = $1 and environment = $2::"Environment" and contact = $3',
);
const eraseAliases = statement(
  'erase-aliases-of-contact',
  'delete from contact_aliases where tenant = $1 and environment = $2::"Environment" and contact_id = $3',
);

/** Deletes the messages of the contact of a thread, with their files, and the contact's numbers. */
export async function eraseContact(
  tx: Queryable,
  scope: Scope,
  externalThreadId: string | null,
): Promise<void> {
  const contact = contactOfThread(externalThreadId);
  if (contact === null) return;
  const values = [scope.tenant, scope.environment, contact];
  await tx.query(scope, eraseMessages, values);
  await tx.query(scope, eraseAliases, values);
}
