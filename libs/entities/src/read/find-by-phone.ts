import type { Entity, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { lastPosition } from '../field-index/position';
import { queryEntities } from './query-entities';

/** Fields of an entity in which a phone number is looked for. */
const phoneFields = ['phone', 'phoneNumber', 'phone_number', 'mobile', 'whatsapp', 'telephone'];
/** How many of a type's newest entities are compared by digits, when no usual spelling of the number is stored. */
const scanLimit = 5_000;

/**
 * The data of the entity of each type that has this phone number, the newest when several have. Usual spellings are
 * found by index; others (`+56 9 1234-5678`) among the type's newest 5,000.
 */
export async function findByPhone(
  db: Queryable,
  scope: Scope,
  phoneNumber: string,
  entityTypes: readonly string[],
): Promise<Map<string, JsonObject>> {
  const found = new Map<string, JsonObject>();
  for (const entityType of entityTypes) {
    const wanted: Wanted = { entityType, phoneNumber, limit: 1 };
    const data = (await bySpelling(db, scope, wanted))[0]?.data ?? (await byDigits(db, scope, wanted))[0]?.data;
    if (data !== undefined) found.set(entityType, data);
  }
  return found;
}

/**
 * The id of the only entity of a type that has this phone number, in whatever spelling; null when none or several have it.
 */
export async function findOnlyByPhone(
  db: Queryable,
  scope: Scope,
  phoneNumber: string,
  entityType: string,
): Promise<string | null> {
  const wanted: Wanted = { entityType, phoneNumber, limit: 2 };
  const usual = await bySpelling(db, scope, wanted);
  const found = usual.length > 1 ? usual : [...usual, ...(await byDigits(db, scope, wanted))];
  const ids = new Set(found.map(({ id }) => id));
  const [only] = ids;
  return ids.size === 1 ? only! : null;
}

interface Wanted {
  entityType: string;
  phoneNumber: string;
  limit: number;
}

const digitsOf = (phoneNumber: string): string => phoneNumber.replace(/\D/g, '');

async function bySpelling(db: Queryable, scope: Scope, { entityType, phoneNumber, limit }: Wanted): Promise<Entity[]> {
  const digits = digitsOf(phoneNumber);
  if (digits === '') return [];
  const spellings = [...new Set([phoneNumber, digits, `+${digits}`])];
  const anyOf = Object.fromEntries(phoneFields.map((field) => [`data.${field}`, { $in: spellings }]));
  const found = await queryEntities(db, scope, { type: entityType, anyOf, limit });
  return found.ok ? found.page.entities : [];
}

const sameDigits = phoneFields.map((field) => `regexp_replace(e.data->>'${field}', '\\D', '', 'g') = $4`).join(' or ');

const newestByDigits = statement(
  'entity-by-phone-digits',
  // Where the newest 5,000 begin is read from the index alone: sorting whole entities takes longer than comparing them.
  `select e.id, e.data from entity_types t
   cross join lateral (
     select coalesce((select e.pos from entities e where e.tenant = $1 and (e.part, e.pos) between (t.no, 0) and (t.no, ${lastPosition})
                      order by e.part desc, e.pos desc offset ${scanLimit - 1} limit 1), 0) as pos) first
   join entities e on e.tenant = $1 and (e.part, e.pos) between (t.no, first.pos) and (t.no, ${lastPosition})
   where t.tenant = $1 and t.environment = $2::"Environment" and t.slug = $3 and (${sameDigits})
   order by e.pos desc limit $5`,
  { id: column.text, data: column.jsonb<JsonObject>() },
);

async function byDigits(
  db: Queryable,
  scope: Scope,
  { entityType, phoneNumber, limit }: Wanted,
): Promise<Pick<Entity, 'id' | 'data'>[]> {
  const digits = digitsOf(phoneNumber);
  if (digits === '') return [];
  const values = [scope.tenant, scope.environment, entityType, digits, limit];
  return (await db.query(scope, newestByDigits, values)).rows;
}
