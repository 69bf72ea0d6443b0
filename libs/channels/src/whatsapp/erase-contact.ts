import type { Scope } from '@parley/contracts';
import { type Queryable, statement } from '@parley/db';
import { contactOfThread } from './thread-key';

const eraseMessages = statement(
  'erase-messages-of-contact',
  'delete from messages where tenant = $tenant and environment = $environment::"Environment" and contact = $contact',
);
const eraseAliases = statement(
  'erase-aliases-of-contact',
  'delete from contact_aliases where tenant = $tenant and environment = $environment::"Environment" and contact_id = $contact',
);

/** Deletes the messages of the contact of a thread, with their files, and the contact's numbers. */
export async function eraseContact(
  tx: Queryable,
  scope: Scope,
  externalThreadId: string | null,
): Promise<void> {
  const contact = contactOfThread(externalThreadId);
  if (contact === null) return;
  const values = { environment: scope.environment, contact };
  await tx.query(scope, eraseMessages, values);
  await tx.query(scope, eraseAliases, values);
}
