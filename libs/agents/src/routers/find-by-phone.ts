import type { JsonObject, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

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
  const containments = phoneFields.flatMap((field) => spellings.map((value) => JSON.stringify({ [field]: value })));
  for (const entityType of entityTypes) {
    const data =
      (await query(db, scope, entityType, bySpelling(containments))) ??
      (await query(db, scope, entityType, byDigits(digits)));
    if (data !== null) found.set(entityType, data);
  }
  return found;
}

interface Search {
  name: string;
  /** A condition on `e.data`, its parameters from $4 on. */
  condition: string;
  values: unknown[];
  limit: string;
}

const bySpelling = (containments: string[]): Search => ({
  name: `entity-by-phone-${containments.length}`,
  condition: `(${containments.map((_, at) => `e.data @> $${at + 4}::jsonb`).join(' or ')})`,
  values: containments,
  limit: '',
});

const byDigits = (digits: string): Search => ({
  name: 'entity-by-phone-digits',
  condition: `(${phoneFields.map((field) => `regexp_replace(e.data->>'${field}', '\\D', '', 'g') = $4`).join(' or ')})`,
  values: [digits],
  limit: `limit ${scanLimit}`,
});

async function query(db: Queryable, scope: Scope, entityType: string, search: Search): Promise<JsonObject | null> {
  const { rows } = await db.query<{ data: JsonObject }>({
    name: search.name,
    text: `select e.data from (
             select e.* from entities e join entity_types t on t.id = e.type_id
             where t.organization_id = $1 and t.environment = $2::"Environment" and t.slug = $3 and e.status <> 'deleted'
             order by e.created_at desc, e.id desc ${search.limit}) e
           where ${search.condition} order by e.created_at desc, e.id desc limit 1`,
    values: [scope.organizationId, scope.environment, entityType, ...search.values],
  });
  return rows[0]?.data ?? null;
}
