import { type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';
import { type Queryable, column, newId, statement } from '@parley/db';
import type { Change } from './change';
import { type Source, supersededReason, supersedes } from './precedence';

const put = statement(
  'put-user',
  `insert into users (id, external_id, email, first_name, last_name, external_updated_at, verified, updated_at)
   values ($id, $externalId, $email, $firstName, $lastName, $time, $isSigned, now())
   on conflict (external_id) do update
     set email = excluded.email, first_name = excluded.first_name, last_name = excluded.last_name,
         external_updated_at = excluded.external_updated_at, verified = excluded.verified, updated_at = excluded.updated_at
     where ${supersedes('users', 'users.external_updated_at is null or users.external_updated_at <= excluded.external_updated_at')}`,
);

/** Creates or updates a user, unless a newer or a signed state exists. */
export async function putUser(
  tx: Queryable,
  data: JsonObject,
  time: Date,
  source: Source,
): Promise<Change> {
  const { rowCount } = await tx.acrossTenants('inbound webhook', put, {
    id: newId('user'),
    externalId: textAt(data.id),
    email: emailOf(data),
    firstName: textAt(data.first_name),
    lastName: textAt(data.last_name),
    time,
    isSigned: source.isSigned,
  });
  return rowCount === 0 ? { ignored: supersededReason('user', source) } : {};
}

const findOrInsert = statement(
  'user-of-membership',
  `insert into users (id, external_id, first_name, last_name, verified, updated_at)
     values ($id, $externalId, $firstName, $lastName, $isSigned, now())
   on conflict (external_id) do update set external_id = excluded.external_id returning id`,
  { id: column.text },
);

/**
 * Returns the id of a membership's user. An unknown user is created, and completed by its own
 * event. A signed membership does not verify a user from an unsigned event, because the e-mail in
 * that row may be forged.
 */
export async function userOfMembership(
  tx: Queryable,
  person: JsonObject,
  { isSigned }: Source,
): Promise<string> {
  const { user_id, first_name, last_name } = person;
  const values = {
    id: newId('user'),
    externalId: textAt(user_id),
    firstName: textAt(first_name),
    lastName: textAt(last_name),
    isSigned,
  };
  const { rows } = await tx.acrossTenants('inbound webhook', findOrInsert, values);
  return rows[0]!.id;
}

/** The primary address, else the first address, else null. */
function emailOf(data: JsonObject): string | null {
  const addresses = listAt(data.email_addresses).map(objectAt);
  const primary = addresses.find(
    (address) => textAt(address.id) === textAt(data.primary_email_address_id),
  );
  const chosen =
    data.primary_email_address_id != null && primary !== undefined ? primary : addresses[0];
  return textAt(chosen?.email_address) ?? null;
}
