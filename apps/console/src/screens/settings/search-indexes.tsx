import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { useLanguage, useTexts } from '../../i18n';
import { Failure, Skeleton } from '../../parts/states';
import { Status } from '../../parts/status';
import { settingsCatalog } from './texts';

/** Whether searches find all entities of each type. */
export function SearchIndexes() {
  const texts = useTexts(settingsCatalog);
  const language = useLanguage();
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'search-indexes'],
    queryFn: ({ signal }) => api.listSearchIndexes({}, { signal }),
    refetchInterval: 5_000,
  });
  if (isPending) return <Skeleton rows={3} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  if (data.data.length === 0) return <p className="text-n11">{texts.noTypes}</p>;
  const share = new Intl.NumberFormat(language, { style: 'percent' });
  return (
    <ul className="divide-y divide-n4 border-y border-n4">
      {data.data.map(({ entityType, name, searchFields, reindexing }) => (
        <li key={entityType} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2">
          <span className="min-w-0 flex-1 basis-56">
            {name} <code className="font-mono text-xs text-n11">{entityType}</code>
            <span className="block text-xs text-n10">
              {searchFields.join(', ') || texts.noFields}
            </span>
          </span>
          {reindexing === null ? (
            <Status status="succeeded" text={texts.indexed} />
          ) : (
            <Status
              status={reindexing.done === 0 ? 'queued' : 'running'}
              text={
                reindexing.done === 0
                  ? texts.waitingForWorker
                  : texts.indexing(share.format(reindexing.share))
              }
            />
          )}
        </li>
      ))}
    </ul>
  );
}
