import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { queryEntities } from '@parley/entities';

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
  const digits = phoneNumber.replace(/\D/g, '');
  const found = new Map<string, JsonObject>();
  if (digits === '') return found;
  const spellings = [...new Set([phoneNumber, digits, `+${digits}`])];
  for (const entityType of entityTypes) {
    const data =
      (await bySpelling(db, scope, entityType, spellings)) ?? (await byDigits(db, scope, entityType, digits));
    if (data !== null) found.set(entityType, data);
  }
  return found;
}

async function bySpelling(
  db: Queryable,
  scope: Scope,
  entityType: string,
  spellings: string[],
): Promise<JsonObject | null> {
  const anyOf = Object.fromEntries(phoneFields.map((field) => [`data.${field}`, { $in: spellings }]));
  const found = await queryEntities(db, scope, { type: entityType, anyOf, limit: 1 });
  return found.ok ? (found.page.entities[0]?.data ?? null) : null;
}

async function byDigits(db: Queryable, scope: Scope, entityType: string, digits: string): Promise<JsonObject | null> {
  const condition = phoneFields.map((field) => `regexp_replace(e.data->>'${field}', '\\D', '', 'g') = $4`).join(' or ');
  const { rows } = await db.query<{ data: JsonObject }>({
    name: 'entity-by-phone-digits',
    text: `select e.data from (
             select e.data, e.pos from entities e join entity_types t on t.no = e.part
             where t.organization_id = $1 and t.environment = $2::"Environment" and t.slug = $3
             order by e.pos desc limit ${scanLimit}) e
           where ${condition} order by e.pos desc limit 1`,
    values: [scope.organizationId, scope.environment, entityType, digits],
  });
  return rows[0]?.data ?? null;
}
