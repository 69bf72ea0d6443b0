import type { Entity, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { lastPosition } from '../field-index/position';
import { queryEntities } from './query-entities';

/** The fields of `data` that may hold a phone number. */
const phoneFields = ['phone', 'phoneNumber', 'phone_number', 'mobile', 'whatsapp', 'telephone'];
/**
 * Number of the newest entities of a type that are compared by digits, if no usual spelling of the
 * number is found.
 */
const scanLimit = 5_000;

/**
 * Finds the newest entity with this phone number in each of the types, and returns its `data` by
 * type. Usual spellings are found by index, others (`+56 9 1234-5678`) only among the newest 5,000
 * entities of the type.
 */
export async function findByPhone(
  db: Queryable,
  scope: Scope,
  phoneNumber: string,
  entityTypes: readonly string[],
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const entityType of entityTypes) {
    const lookup: Lookup = { entityType, phoneNumber, limit: 1 };
    const data =
      (await bySpelling(db, scope, lookup))[0]?.data ??
      (await byDigits(db, scope, lookup))[0]?.data;
    if (data !== undefined) found.set(entityType, data);
  }
  return found;
}

/**
 * The id of the only entity of a type with this phone number, in any spelling. Null if no entity or
 * several have it.
 */
export async function findOnlyByPhone(
  db: Queryable,
  scope: Scope,
  phoneNumber: string,
  entityType: string,
): Promise<string | null> {
  const lookup: Lookup = { entityType, phoneNumber, limit: 2 };
  const usual = await bySpelling(db, scope, lookup);
  const found = usual.length > 1 ? usual : [...usual, ...(await byDigits(db, scope, lookup))];
  const ids = new Set(found.map(({ id }) => id));
  const [only] = ids;
  return ids.size === 1 ? only! : null;
}

/**
 * The id of the only entity of a type with this phone number in a usual spelling (`+56912345678`,
 * with or without +). Null if none or several have it. Reads an index only: comparing digits, as
 * `findOnlyByPhone` does, takes 50 to 300 ms for 5,000 entities.
 */
export async function findOnlyBySpelling(
  db: Queryable,
  scope: Scope,
  phoneNumber: string,
  entityType: string,
): Promise<string | null> {
  const [only, second] = await bySpelling(db, scope, { entityType, phoneNumber, limit: 2 });
  return only !== undefined && second === undefined ? only.id : null;
}

interface Lookup {
  entityType: string;
  phoneNumber: string;
  limit: number;
}

const digitsOf = (phoneNumber: string): string => phoneNumber.replace(/\D/g, '');

async function bySpelling(
  db: Queryable,
  scope: Scope,
  { entityType, phoneNumber, limit }: Lookup,
): Promise<Entity[]> {
  const digits = digitsOf(phoneNumber);
  if (digits === '') return [];
  const spellings = [...new Set([phoneNumber, digits, `+${digits}`])];
  const anyOf = Object.fromEntries(
    phoneFields.map((field) => [`data.${field}`, { $in: spellings }]),
  );
  const found = await queryEntities(db, scope, { type: entityType, anyOf, limit });
  return found.ok ? found.page.entities : [];
}

const sameDigits = phoneFields
  .map((field) => `regexp_replace(e.data->>'${field}', '\\D', '', 'g') = $digits`)
  .join(' or ');

const newestByDigits = statement(
  'entity-by-phone-digits',
  // Only the index is read to find where the newest 5,000 begin. Sorting whole entities would take
  // longer than comparing them.
  `select e.id, e.data from entity_types t
   cross join lateral (
     select coalesce((select e.pos from entities e where e.tenant = $tenant and (e.part, e.pos) between (t.no, 0)
       and (t.no, ${lastPosition})
                      order by e.part desc, e.pos desc offset ${scanLimit - 1} limit 1), 0) as pos) first
   join entities e on e.tenant = $tenant and (e.part, e.pos) between (t.no, first.pos) and (t.no, ${lastPosition})
   where t.tenant = $tenant and t.environment = $environment::"Environment" and t.slug = $entityType and (${sameDigits})
   order by e.pos desc limit $limit`,
  { id: column.text, data: column.jsonb<JsonObject>() },
);

async function byDigits(
  db: Queryable,
  scope: Scope,
  { entityType, phoneNumber, limit }: Lookup,
): Promise<Pick<Entity, 'id' | 'data'>[]> {
  const digits = digitsOf(phoneNumber);
  if (digits === '') return [];
  const values = { environment: scope.environment, entityType, digits, limit };
  return (await db.query(scope, newestByDigits, values)).rows;
}
