import type { Entity, JsonObject } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { isMissing } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import type { Thread } from './names';

const slowMs = 15_000;

/** The contact of a thread, and the entity that has its number. */
export function useContact({ contactId, entity }: Thread) {
  const { api, client, key } = useWorkspace();
  const contact = useQuery({
    queryKey: [...key, 'contact', contactId],
    queryFn: ({ signal }) => api.getContact({ id: contactId! }, { signal }),
    enabled: contactId !== null,
    refetchInterval: slowMs,
  });
  const own = useQuery({
    queryKey: [...key, 'entities', entity?.type, 'one', entity?.id],
    queryFn: async ({ signal }): Promise<Entity | null> => {
      try {
        return await client.data.get(entity!.type, entity!.id, { signal });
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    enabled: entity !== null,
    refetchInterval: slowMs,
  });
  return { contact, own };
}

/** A field of an entity type that holds the id of an entity. */
interface Reference {
  type: string;
  typeName: string;
  field: string;
  value: string;
}

interface TypeDefinition {
  slug: string;
  name?: string;
  schema?: JsonObject;
}

/** Names the person who pays in entities of the type `payment`; other types name them alike. */
const emailField = 'customerEmail';

/** The fields of all types that refer to an entity: by its id, or by the e-mail address of the customer. */
export function useReferencesTo(entity: Entity): Reference[] {
  const { client, key } = useWorkspace();
  const { data } = useQuery({
    queryKey: [...key, 'definitions', 'entityTypes'],
    queryFn: ({ signal }) =>
      client.request<{ resources: { entityTypes?: TypeDefinition[] } }>({
        ...{ method: 'POST', path: ['sync', 'pull'], body: {}, signal },
      }),
    staleTime: 60_000,
  });
  const { email } = entity.data;
  return (data?.resources.entityTypes ?? []).flatMap(({ slug, name, schema }) =>
    Object.entries(fieldsOf(schema ?? {})).flatMap(([field, value]) =>
      refersTo(value) === entity.type
        ? [{ type: slug, typeName: name ?? slug, field, value: entity.id }]
        : field === emailField && typeof email === 'string' && email !== ''
          ? [{ type: slug, typeName: name ?? slug, field, value: email }]
          : [],
    ),
  );
}

/** A schema is a map of fields, or a JSON Schema with them. */
const fieldsOf = (schema: JsonObject): JsonObject =>
  schema.type === 'object' && isObject(schema.properties) ? schema.properties : schema;
const refersTo = (field: JsonObject[string] | undefined) => (isObject(field) ? field.references : undefined);
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** How many are shown of each list. */
const shownCount = 5;

/** The entities whose field has a value, newest first. */
export function useEntitiesWith(type: string, field: string, value: string | undefined) {
  const { client, key } = useWorkspace();
  return useQuery({
    queryKey: [...key, 'entities', type, 'with', field, value],
    queryFn: async ({ signal }) => {
      try {
        return await client.data.query(
          type,
          { filters: { [`data.${field}`]: { $eq: value } } as never, limit: shownCount, count: 'estimated' },
          { signal },
        );
      } catch (error) {
        // A type that does not exist, or a field that cannot be filtered by, has nothing to show.
        if (isMissing(error)) return { data: [], total: 0, cursor: '', hasMore: false };
        throw error;
      }
    },
    enabled: value !== undefined,
    refetchInterval: slowMs,
  });
}

const names = ['name', 'title', 'number', 'code', 'description', 'subject'];
/** What an entity is called: a field that names it, else its first text, else its id. */
export function titleOf({ id, data }: Entity): string {
  const named = names.map((name) => data[name]).find((value) => typeof value === 'string' || typeof value === 'number');
  const text = named ?? Object.values(data).find((value) => typeof value === 'string' && value !== '');
  return text === undefined ? id : String(text);
}
