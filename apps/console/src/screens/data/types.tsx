import { Link } from '@tanstack/react-router';
import { useTypes } from '../../api/queries';
import { usePlace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ScreenHead } from '../../parts/screen-head';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { dataCatalog } from './texts';

/** The entity types of the environment, with their fields. */
export function DataTypes() {
  const texts = useTexts(dataCatalog);
  const { data, error, isPending, refetch } = useTypes();
  const place = usePlace();
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={texts.title} />
      <div className="min-h-0 flex-1 overflow-auto">
        {isPending ? (
          <Skeleton />
        ) : data === undefined ? (
          <Failure error={error} onRetry={refetch} />
        ) : data.data.length === 0 ? (
          <Empty title={texts.emptyTitle} command="npx parley push">
            {texts.empty}
          </Empty>
        ) : (
          <ul>
            {data.data.map(({ slug, name, schema }) => (
              <li key={slug}>
                <Link
                  to="/$organization/$environment/data/$type"
                  params={{ ...place, type: slug }}
                  search={{}}
                  className="flex min-h-11 items-center gap-4 border-b border-n4 px-4 py-2 hover:bg-n2"
                >
                  <span className="w-48 shrink-0">
                    <span className="block truncate font-medium">{name}</span>
                    <code className="block truncate font-mono text-xs text-n11">{slug}</code>
                  </span>
                  <span className="min-w-0 flex-1 truncate text-n11 max-sm:hidden">
                    {Object.keys(schema).join(', ')}
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
