import { type Queryable, statement } from '@parley/db';
import type { Source } from './precedence';

type Kind = 'organization' | 'membership';

const add = statement(
  'add-tombstone',
  `insert into identity_tombstones as t (kind, external_id, signed) values ($kind, $id, $isSigned)
   on conflict (kind, external_id) do update set signed = true where excluded.signed and not t.signed`,
);

/** Stores the id of a deleted record, so that a late event does not create it again. */
export async function addTombstone(
  tx: Queryable,
  kind: Kind,
  id: string,
  isSigned: boolean,
): Promise<void> {
  await tx.acrossTenants('inbound webhook', add, { kind, id, isSigned });
}

const find = statement(
  'find-tombstone',
  'select from identity_tombstones where kind = $kind and external_id = $id and (signed or not $isSigned)',
);

/** Whether events about an id are ignored. A signed event ignores an unsigned deletion. */
export async function isDeleted(
  tx: Queryable,
  kind: Kind,
  id: string,
  { isSigned }: Source,
): Promise<boolean> {
  return (await tx.acrossTenants('inbound webhook', find, { kind, id, isSigned })).rowCount === 1;
}
