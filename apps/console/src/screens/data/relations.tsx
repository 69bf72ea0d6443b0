import type { Entity, Json } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { type DataField, type DataType, withNested } from './fields';
import { LinkedEntities } from './linked-entities';
import { ReferenceLink } from './reference-input';
import { dataCatalog } from './texts';
import { TextLink } from '../../parts/link';
import { useDataTypes } from './use-data-types';

/**
 * What an entity is related to: the ids in its fields, the fields of other types with its id, and
 * named relations.
 */
export function Relations({ type, entity }: { type: DataType; entity: Entity }) {
  const texts = useTexts(dataCatalog);
  const types = useDataTypes();
  const own = withNested(type.fields).filter(({ references }) => references !== undefined);
  const from = (types.data ?? []).flatMap((other) =>
    withNested(other.fields).flatMap((field) =>
      field.references === type.slug ? [{ other, field }] : [],
    ),
  );
  return (
    <div className="space-y-6">
      <section aria-label={texts.refersTo}>
        <h3 className="mb-1 font-medium text-n11">{texts.refersTo}</h3>
        {own.length === 0 ? (
          <p className="text-n11">{texts.noReferences}</p>
        ) : (
          <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
            {own.map((field) => {
              const id = valueAt(entity.data, field.name);
              return (
                <div key={field.name} className="contents">
                  <dt className="text-n11">{field.name}</dt>
                  <dd className="min-w-0">
                    {typeof id === 'string' && id !== '' ? (
                      <ReferenceLink type={field.references!} id={id} />
                    ) : (
                      <span className="text-n10">{texts.emptyValue}</span>
                    )}
                  </dd>
                </div>
              );
            })}
          </dl>
        )}
      </section>
      {from.length > 0 && (
        <section aria-label={texts.referredBy}>
          <h3 className="mb-1 font-medium text-n11">{texts.referredBy}</h3>
          <ul className="space-y-1">
            {from.map(({ other, field }) => (
              <li key={`${other.slug} ${field.name}`}>
                <Referring other={other} field={field} id={entity.id} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <LinkedEntities type={type.slug} id={entity.id} />
    </div>
  );
}

/** The value at a path of names that are joined by dots. */
const valueAt = (data: Entity['data'], path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (at, name) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, name)
          ? (at as Record<string, Json>)[name]
          : undefined,
      data,
    );

/** The entities of another type whose field has this id: how many, and a link to them. */
function Referring({ other, field, id }: { other: DataType; field: DataField; id: string }) {
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const { data: total } = useQuery({
    queryKey: [...key, 'entities', other.slug, 'total', field.name, id],
    queryFn: async ({ signal }) =>
      (
        await client.data.query(
          other.slug,
          { filters: { [`data.${field.name}`]: id }, limit: 1, count: 'estimated' } as never,
          { signal },
        )
      ).total,
  });
  return (
    <TextLink
      to="data/$type"
      params={{ type: other.slug }}
      search={{ filters: [[field.name, 'eq', id]] }}
    >
      {texts.referring(other.name, field.name)} {total !== undefined && `(${formatNumber(total)})`}
    </TextLink>
  );
}
