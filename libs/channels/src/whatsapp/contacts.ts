import type { Scope } from '@parley/contracts';
import { type Db, type Queryable, column, lockKey, statement } from '@parley/db';
import type { Identity } from './read-inbound';
import { threadKeyOf } from './thread-key';

const channel = 'whatsapp';

/**
 * Changes a thread's external id, or moves its turns to an existing thread `to` (mergeThreads
 * of libs/agents).
 */
export type MergeThreads = (tx: Queryable, scope: Scope, from: string, to: string) => Promise<void>;

/**
 * Returns the contact of a sender: the digits of its first known phone number, else its scoped id;
 * null if it has neither. All aliases of a contact are stored, so that its thread continues when
 * one of them is missing or changes. When a number becomes known, or two aliases turn out to be one
 * contact, messages and thread move to the contact that remains.
 */
export async function resolveContact(
  db: Db,
  scope: Scope,
  identity: Identity,
  mergeThreads: MergeThreads,
): Promise<string | null> {
  const { phone, scopedId } = identity;
  const names = [phone, scopedId].filter((name) => name !== null);
  if (names.length === 0) return null;
  const known = await findAliases(db, scope, names);
  const contacts = new Set(known.values());
  const [only] = contacts;
  const isSettled =
    known.size === names.length && contacts.size === 1 && (phone === null || only !== scopedId);
  if (isSettled) return only!;
  return db.transaction((tx) => link(tx, scope, identity, mergeThreads));
}

/** Returns the contact of an alias, for outbound messages; the alias itself when it is new. */
export async function contactOf(db: Queryable, scope: Scope, name: string): Promise<string> {
  return (await findAliases(db, scope, [name])).get(name) ?? name;
}

const aliases = statement(
  'contact-aliases',
  `select alias, contact_id as "contactId" from contact_aliases
   where tenant = $tenant and environment = $environment::"Environment" and channel = '${channel}'
     and alias = any($names)`,
  { alias: column.text, contactId: column.text },
);

async function findAliases(
  db: Queryable,
  scope: Scope,
  names: string[],
): Promise<Map<string, string>> {
  const { rows } = await db.query(scope, aliases, { environment: scope.environment, names });
  return new Map(rows.map(({ alias, contactId }) => [alias, contactId]));
}

const isPhone = (name: string): boolean => /^\d+$/.test(name);

const latestNumber = statement(
  'latest-number-of-contact',
  `select alias from contact_aliases
   where tenant = $tenant and environment = $environment::"Environment" and channel = '${channel}'
     and contact_id = $contact
     and alias ~ '^[0-9]+$'
   order by created_at desc limit 1`,
  { alias: column.text },
);

/**
 * Returns the latest known phone number of a contact; null while only scoped ids are known. The
 * contact's id may be an earlier number, which may now belong to another person.
 */
export async function latestNumberOf(
  db: Queryable,
  scope: Scope,
  contact: string,
): Promise<string | null> {
  return (
    (await db.query(scope, latestNumber, { environment: scope.environment, contact })).rows[0]
      ?.alias ?? null
  );
}

const aliasesOf = statement(
  'aliases-of-contact',
  `select alias from contact_aliases
   where tenant = $tenant and environment = $environment::"Environment" and channel = '${channel}' and contact_id = $contact
   order by created_at, alias limit 100`,
  { alias: column.text },
);

/** The phone numbers and scoped ids of a contact, oldest first. */
export const readAliases = async (
  db: Queryable,
  scope: Scope,
  contact: string,
): Promise<string[]> =>
  (await db.query(scope, aliasesOf, { environment: scope.environment, contact })).rows.map(
    ({ alias }) => alias,
  );

const linkAliases = statement(
  'link-aliases',
  `insert into contact_aliases (tenant, environment, channel, alias, contact_id, created_at)
   select $tenant, $environment::"Environment", '${channel}', alias, $contact, now()
     from unnest($aliases::text[]) as alias
   on conflict (tenant, environment, channel, alias) do update
     set contact_id = excluded.contact_id,
         created_at = case when excluded.alias = any($names) then excluded.created_at else contact_aliases.created_at end`,
);

/**
 * Links aliases to one contact. Serialized per environment, which costs little because
 * new links are rare.
 */
async function link(
  tx: Queryable,
  scope: Scope,
  { phone, scopedId }: Identity,
  mergeThreads: MergeThreads,
): Promise<string> {
  const { tenant, environment } = scope;
  await tx.query(scope, lockKey, { key: `contacts:${tenant}:${environment}` });
  const names = [phone, scopedId].filter((name) => name !== null);
  const known = await findAliases(tx, scope, names);
  const contacts = [...new Set(known.values())];
  const contact = contacts.find(isPhone) ?? phone ?? contacts[0] ?? names[0]!;
  await tx.query(scope, linkAliases, {
    environment,
    aliases: [...new Set([...names, contact])],
    contact,
    names,
  });
  for (const old of contacts)
    if (old !== contact) await moveContact(tx, scope, { from: old, to: contact }, mergeThreads);
  return contact;
}

const moveAliases = statement(
  'move-aliases',
  `update contact_aliases set contact_id = $to
   where tenant = $tenant and environment = $environment::"Environment" and channel = '${channel}'
     and contact_id = $from`,
);

const moveMessages = statement(
  'move-messages-of-contact',
  `update messages set contact = $to where tenant = $tenant and environment = $environment::"Environment"
     and contact = $from`,
);

async function moveContact(
  tx: Queryable,
  scope: Scope,
  { from, to }: { from: string; to: string },
  mergeThreads: MergeThreads,
): Promise<void> {
  const ids = { environment: scope.environment, from, to };
  await tx.query(scope, moveAliases, ids);
  await tx.query(scope, moveMessages, ids);
  await mergeThreads(tx, scope, threadKeyOf(from), threadKeyOf(to));
}
