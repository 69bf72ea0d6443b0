import type { Entity } from '@parley/client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { isMissing } from '../../api/errors';
import { useWorkspace } from '../../frame/workspace';
import { type DataType, withNested } from '../data/fields';
import type { Thread } from './names';
import { useDataTypes } from '../data/use-data-types';

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

/** A field of a type that refers to a contact, by its id or by its e-mail address. */
interface Reference {
  type: DataType;
  field: string;
  value: string;
}

/** Names the person who pays in entities of the type `payment`; other types name them alike. */
const emailField = 'customerEmail';

/** The fields of all types that refer to an entity. */
function useReferencesTo(entity: Entity): Reference[] {
  const { data: types } = useDataTypes();
  const { email } = entity.data;
  return (types ?? []).flatMap((type) =>
    withNested(type.fields).flatMap(({ name: field, references }) =>
      references === entity.type
        ? [{ type, field, value: entity.id }]
        : field === emailField && type.slug !== payment && typeof email === 'string' && email !== ''
          ? [{ type, field, value: email }]
          : [],
    ),
  );
}

const payment = 'payment';
/** How many are shown of each list. */
const shownCount = 5;
const nothing = { data: [] as Entity[], total: 0 };

/** The entities that refer to an entity, by the field that does, newest first. */
export function useRelatedTo(
  entity: Entity,
): (Reference & { entities: Entity[]; total: number })[] {
  const { client, key } = useWorkspace();
  const references = useReferencesTo(entity);
  const lists = useQueries({
    queries: references.map(({ type: { slug }, field, value }) => ({
      queryKey: [...key, 'entities', slug, 'with', field, value],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        client.data.query(
          slug,
          {
            filters: { [`data.${field}`]: { $eq: value } } as never,
            limit: shownCount,
            count: 'estimated',
          },
          { signal },
        ),
      refetchInterval: slowMs,
    })),
  });
  return references.flatMap((reference, at) => {
    const { data: entities = [], total = 0 } = lists[at]?.data ?? {};
    return entities.length === 0 ? [] : [{ ...reference, entities, total }];
  });
}

/**
 * The payments for an entity or what refers to it, and those with its e-mail address, newest first.
 */
export function usePaymentsOf(entity: Entity, others: readonly Entity[]) {
  const { client, key } = useWorkspace();
  const { data: types } = useDataTypes();
  const payers = [entity, ...others].map(({ type, id }) => ({ type, id }));
  const { email } = entity.data;
  return useQuery({
    queryKey: [...key, 'entities', payment, 'of', payers, email],
    queryFn: async ({ signal }) => {
      const related = await Promise.all(
        payers.map(({ type, id }) => client.data.relations(type, id, {}, { signal })),
      );
      const ids = related.flatMap(({ data }) =>
        data.flatMap((one) => (one.entity.type === payment ? one.entity.id : [])),
      );
      const either = [
        ...(ids.length > 0 ? [{ id: { $in: [...new Set(ids)].slice(0, 100) } }] : []),
        ...(typeof email === 'string' && email !== ''
          ? [{ [`data.${emailField}`]: { $eq: email } }]
          : []),
      ];
      if (either.length === 0) return nothing;
      const input = {
        filters: { $or: either } as never,
        limit: shownCount,
        count: 'estimated' as const,
      };
      return client.data.query(payment, input, { signal });
    },
    enabled: types?.some(({ slug }) => slug === payment) === true,
    refetchInterval: slowMs,
  });
}
