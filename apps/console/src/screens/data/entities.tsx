import type { Entity, EntityPage } from '@parley/client';
import { unguardText } from '@parley/rows';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ArrowLeft, Plus } from 'lucide-react';
import { Suspense, lazy, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { orReload } from '../../api/or-reload';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button, Choice } from '../../parts/controls';
import { Link, TextLink } from '../../parts/link';
import { ScreenHead } from '../../parts/screen-head';
import { SearchBox } from '../../parts/search-box';
import { Empty, Failure, Skeleton } from '../../parts/states';
import { type Query, pageSize } from './bulk';
import { Cards } from './cards';
import { isOneCell } from './clipboard';
import { EntityList } from './entity-list';
import { EntityPanel } from './entity-panel';
import { ExportButton } from './export-button';
import type { DataType } from './fields';
import { Filters } from './filters';
import { Grid } from './grid';
import type { GridColumn } from './grid-column';
import type { Range } from './grid-keys';
import { SchemaView } from './schema-view';
import { type DataSearch, filterableFields, pathOf, readFilters } from './search';
import { SelectionBar } from './selection-bar';
import { dataCatalog } from './texts';
import { useCellEdits } from './use-cell-edits';
import { useSelection } from './use-selection';
import { useIsWide } from './use-is-wide';
import { useDataTypes } from './use-data-types';

const PasteDialog = lazy(() =>
  import('./paste-dialog').then((module) => ({ default: module.PasteDialog })).catch(orReload),
);
const ImportDialog = lazy(() =>
  import('./import/import-dialog')
    .then((module) => ({ default: module.ImportDialog }))
    .catch(orReload),
);

const route = getRouteApi('/$organization/$environment/data/$type');
const refreshMs = 10_000;
/** Values whose kind of date is looked at. */
const sampleRows = 200;

export function Entities() {
  const { type } = route.useParams();
  const types = useDataTypes();
  if (types.isPending) return <Skeleton rows={10} />;
  if (types.data === undefined) return <Failure error={types.error} onRetry={types.refetch} />;
  const found = types.data.find(({ slug }) => slug === type);
  return found === undefined ? <Unknown /> : <EntitiesOfType key={type} type={found} />;
}

function Unknown() {
  const data = useTexts(dataCatalog);
  const { states } = useTexts();
  return (
    <Empty title={states.notFoundTitle}>
      <p>{states.notFound}</p>
      <TextLink to="data">{data.title}</TextLink>
    </Empty>
  );
}

/** The rows that the address asks for. They are read again every few seconds. */
function useEntities(type: DataType, query: Query, q: string | undefined) {
  const { client, key } = useWorkspace();
  const scope = JSON.stringify([query, q]);
  const list = useMemo(
    () =>
      new EntityList(async (cursor, signal) => {
        if (q === undefined)
          return (await client.data.query(
            type.slug,
            { ...query, cursor, limit: pageSize } as never,
            {
              signal,
            },
          )) as EntityPage;
        const { data } = await client.data.search(
          type.slug,
          { query: q, limit: 100, status: query.status },
          { signal },
        );
        return { data: data as Entity[], cursor: '', hasMore: false };
      }),
    // The query is in the scope.
    [client, type.slug, scope],
  );
  const refresh = useQuery({
    queryKey: [...key, 'entities', type.slug, 'rows', scope],
    queryFn: ({ signal }) => list.refresh(signal),
    refetchInterval: refreshMs,
    // Each list is filled by its own first request.
    gcTime: 0,
  });
  const { data: total } = useQuery({
    queryKey: [...key, 'entities', type.slug, 'total', scope],
    queryFn: async ({ signal }) =>
      (
        await client.data.query(
          type.slug,
          { ...query, sort: undefined, limit: 1, count: 'estimated' } as never,
          {
            signal,
          },
        )
      ).total,
    enabled: q === undefined,
    refetchInterval: refreshMs * 3,
  });
  // The rows of before stay until the others are there.
  const shown = useRef(list);
  if (!refresh.isPending) shown.current = list;
  useSyncExternalStore(shown.current.subscribe, shown.current.version);
  return {
    list: shown.current,
    scope,
    refresh,
    total: q === undefined ? total : shown.current.count,
  };
}

function EntitiesOfType({ type }: { type: DataType }) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const isWide = useIsWide();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changes: Partial<DataSearch>, replace = true) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace });
  const fields = useMemo(() => filterableFields(type.fields), [type.fields]);
  const { filters, problems } = useMemo(
    () => readFilters(search.filters ?? [], fields),
    [search.filters, fields],
  );
  const query: Query = {
    ...(Object.keys(filters).length > 0 && { filters: filters as never }),
    ...(search.sort && {
      sort: { field: pathOf(search.sort) as never, direction: search.direction ?? 'asc' },
    }),
    ...(search.status !== undefined && { status: search.status }),
  };
  const { list, scope, refresh, total } = useEntities(type, query, search.q);
  const edits = useCellEdits(type.slug, list);
  const selection = useSelection(list, scope);
  const searchBox = useRef<HTMLInputElement>(null);
  const [pasted, setPasted] = useState<{
    text: string;
    at: Range;
    columns: readonly GridColumn[];
  } | null>(null);
  const [focusField, setFocusField] = useState<string>();
  const open = (entity: string | undefined, field?: string) => {
    setFocusField(field);
    change({ entity, tab: undefined }, search.entity !== undefined && entity !== undefined);
  };
  useKeys({ '/': () => searchBox.current?.focus() ?? false });
  const momentFields = new Set(
    list.rows
      .slice(0, sampleRows)
      .flatMap(({ data }) =>
        Object.entries(data).flatMap(([name, value]) => (typeof value === 'number' ? [name] : [])),
      ),
  );
  const paste = (text: string, at: Range, columns: readonly GridColumn[]) => {
    const column = columns[at.columns[0]];
    const entity = list.at(at.rows[0]);
    const isOne = at.rows[0] === at.rows[1] && at.columns[0] === at.columns[1] && isOneCell(text);
    if (!isOne) setPasted({ text, at, columns });
    else if (entity && entity.status !== 'deleted' && column?.is === 'field')
      edits.save(entity, column.field, unguardText(text.trimEnd()));
  };
  const isFiltered =
    search.q !== undefined || search.filters !== undefined || search.status !== undefined;
  const content =
    refresh.isPending && list.count === 0 ? (
      <Skeleton rows={10} />
    ) : refresh.isError && list.count === 0 ? (
      <Failure error={refresh.error} onRetry={refresh.refetch} />
    ) : list.count === 0 && isFiltered ? (
      <Empty title={texts.noMatch}>
        <Button onClick={() => change({ q: undefined, filters: undefined, status: undefined })}>
          {states.clearFilters}
        </Button>
      </Empty>
    ) : list.count === 0 ? (
      <Empty title={texts.noEntities} command={`npx parley data create ${type.slug} '{…}'`}>
        <p>{texts.noEntitiesHint}</p>
        <Button onClick={() => change({ view: 'import' })}>{texts.import}</Button>
      </Empty>
    ) : isWide ? (
      <Grid
        type={type}
        list={list}
        total={total}
        edits={edits}
        selection={selection}
        search={search}
        onSort={(sort) => change(sort)}
        onOpen={open}
        onPaste={paste}
      />
    ) : (
      <Cards type={type} list={list} total={total} selection={selection} onOpen={open} />
    );
  return (
    <div className="flex h-full">
      <div
        className={`flex h-full min-w-0 flex-1 flex-col ${search.entity !== undefined ? 'max-lg:hidden' : ''}`}
      >
        <ScreenHead
          title={type.name}
          before={
            <Link
              to="data"
              aria-label={texts.types}
              className="tap inline-flex h-8 w-8 items-center justify-center rounded hover:bg-n4"
            >
              <ArrowLeft aria-hidden size={16} />
            </Link>
          }
        >
          <span className="text-n11 tabular-nums">
            {total !== undefined && texts.matches(total, formatNumber(total))}
          </span>
          <span className="ml-auto flex gap-2 max-sm:w-full max-sm:justify-between">
            <Button look="quiet" onClick={() => change({ view: 'schema' })}>
              {texts.schema}
            </Button>
            <Button look="quiet" onClick={() => change({ view: 'import' })}>
              {texts.import}
            </Button>
            <ExportButton type={type} query={query} total={total} />
            <Button look="primary" icon={Plus} label={texts.create} onClick={() => open('new')}>
              {isWide && texts.create}
            </Button>
          </span>
        </ScreenHead>
        <div className="flex flex-wrap items-center gap-2 border-b border-n5 px-4 py-2">
          {type.searchFields.length > 0 && (
            <span className="flex w-56 max-sm:w-full">
              <SearchBox
                box={searchBox}
                value={search.q ?? ''}
                // A search ranks by itself: it takes no filters and no sort.
                onChange={(q) =>
                  change(
                    q
                      ? { q, filters: undefined, sort: undefined, direction: undefined }
                      : { q: undefined },
                  )
                }
                label={texts.search}
              />
            </span>
          )}
          <StatusChoice
            list={list}
            value={search.status}
            onChange={(status) => change({ status })}
          />
          <Filters
            type={type.slug}
            fields={fields}
            problems={problems}
            search={search}
            query={query}
            rows={search.filters ?? []}
            hasMoments={(name) =>
              name === 'createdAt' || name === 'updatedAt' || momentFields.has(name)
            }
            onChange={(rows) =>
              change({ filters: rows.length > 0 ? rows : undefined, q: undefined })
            }
          />
        </div>
        {(selection.size > 0 || selection.isEverything) && (
          <SelectionBar
            type={type}
            selection={selection}
            query={query}
            canSelectAll={search.q === undefined}
          />
        )}
        <div className="min-h-0 flex-1">{content}</div>
      </div>
      {search.entity !== undefined && (
        <EntityPanel
          key={search.entity}
          type={type}
          id={search.entity}
          tab={search.tab ?? 'fields'}
          focusField={focusField}
          onTab={(tab) => change({ tab: tab === 'fields' ? undefined : tab })}
          onClose={() => open(undefined)}
          onCreated={(id) => change({ entity: id })}
        />
      )}
      {search.view === 'schema' && (
        <SchemaView type={type} onClose={() => change({ view: undefined })} />
      )}
      <Suspense>
        {search.view === 'import' && (
          <ImportDialog type={type} onClose={() => change({ view: undefined })} />
        )}
        {pasted !== null && (
          <PasteDialog
            type={type.slug}
            list={list}
            edits={edits}
            {...pasted}
            onClose={() => setPasted(null)}
          />
        )}
      </Suspense>
    </div>
  );
}

/**
 * The lifecycle status of the rows. Any text is one; the loaded rows name those that are in use.
 */
function StatusChoice({
  list,
  value,
  onChange,
}: {
  list: EntityList;
  value: string | undefined;
  onChange: (status: string | undefined) => void;
}) {
  const texts = useTexts(dataCatalog);
  const known = new Set([
    'active',
    ...list.rows.map(({ status }) => status),
    'deleted',
    ...(value ? [value] : []),
  ]);
  return (
    <Choice
      label={texts.status}
      className="max-sm:max-w-40"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value || undefined)}
      options={[
        ['', texts.notDeleted] as const,
        ...[...known].map(
          (status) =>
            [status, status === 'deleted' ? texts.deletedOnes : texts.onlyStatus(status)] as const,
        ),
      ]}
    />
  );
}
