import { useTexts } from '../../i18n';
import { Link } from '../../parts/link';
import { ScreenHead } from '../../parts/screen-head';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { dataCatalog } from './texts';
import { useDataTypes } from './use-data-types';

export function DataTypes() {
  const texts = useTexts(dataCatalog);
  const { data, error, isPending, refetch } = useDataTypes();
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={texts.title}>
        {data !== undefined && (
          <span className="text-n11 tabular-nums">{texts.typeCount(data.length)}</span>
        )}
      </ScreenHead>
      <div className="min-h-0 flex-1 overflow-auto">
        {isPending ? (
          <Skeleton />
        ) : data === undefined ? (
          <Failure error={error} onRetry={refetch} />
        ) : data.length === 0 ? (
          <Empty title={texts.emptyTitle} command="npx parley push">
            {texts.empty}
          </Empty>
        ) : (
          <ul>
            {data.map(({ slug, name, fields }) => (
              <li key={slug} className="flex items-center border-b border-n4 hover:bg-n2">
                <Link
                  to="data/$type"
                  params={{ type: slug }}
                  className="flex min-h-12 min-w-0 flex-1 items-center gap-4 px-4 py-2"
                >
                  <span className="w-48 shrink-0 max-sm:w-full max-sm:shrink">
                    <span className="block truncate font-medium">{name}</span>
                    <code className="block truncate font-mono text-xs text-n11">{slug}</code>
                  </span>
                  <span className="min-w-0 flex-1 truncate text-n11 max-sm:hidden">
                    {fields.length === 0
                      ? texts.noFields
                      : fields.map((field) => field.name).join(', ')}
                  </span>
                </Link>
                <Link
                  to="data/$type"
                  params={{ type: slug }}
                  search={{ view: 'schema' }}
                  aria-label={texts.schemaOf(name)}
                  className="tap mr-2 inline-flex h-8 items-center rounded px-2 text-n11 hover:bg-n4"
                >
                  {texts.schema}
                </Link>
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}
