import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { usePages } from '../../parts/pages';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { ReferenceLink } from './reference-input';
import { dataCatalog } from './texts';

/** The relations that tools and payments made, in both directions, newest first. */
export function LinkedEntities({ type, id }: { type: string; id: string }) {
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const list = usePages(
    [...key, 'entities', type, 'relations', id],
    (cursor, signal) => client.data.relations(type, id, { cursor }, { signal }),
    { refetchInterval: 10_000 },
  );
  return (
    <section aria-label={texts.linked}>
      <h3 className="mb-1 font-medium text-n11">{texts.linked}</h3>
      {list.isPending ? (
        <Skeleton rows={2} />
      ) : list.isError && list.items.length === 0 ? (
        <Failure error={list.error} onRetry={list.refetch} />
      ) : list.items.length === 0 ? (
        <p className="text-n11">{texts.noLinks}</p>
      ) : (
        <ul className="space-y-1">
          {list.items.map(({ relation, direction, entity, createdAt }) => (
            <li key={`${relation} ${direction} ${entity.id}`} className="flex items-baseline gap-2">
              <span className="text-n11">
                {direction === 'outgoing'
                  ? texts.relationTo(relation)
                  : texts.relationFrom(relation)}
              </span>
              <span className="min-w-0 flex-1 truncate">
                <ReferenceLink {...entity} />
              </span>
              <Ago at={createdAt} className="text-xs text-n11" />
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button
          className="mt-2"
          isBusy={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {texts.olderRelations}
        </Button>
      )}
    </section>
  );
}
