import type { Entity } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { ArrowDown, ArrowLeft, ArrowUp, Plus } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { messageOf } from '../../api/session';
import { useTypes } from '../../api/queries';
import { useKeys } from '../../frame/keys';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatExact, formatNumber, useTexts } from '../../i18n';
import { Button, Toggle } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Rows, usePages } from '../../parts/pages';
import { ScreenHead } from '../../parts/screen-head';
import { SearchBox } from '../../parts/search-box';
import { Empty, Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { EntityDialog } from './entity-dialog';
import { Filters } from './filters';
import { pathOf, toFilters } from './search';
import { dataCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/data/$type');
const columnRem = 12;
const isNumeric = (type: string | undefined): boolean => type === 'number' || type === 'integer';
/** Entities that one request deletes. */
const bulkSize = 500;

export function Entities() {
  const { type } = route.useParams();
  const types = useTypes();
  if (types.isPending) return <Skeleton rows={10} />;
  if (types.data === undefined) return <Failure error={types.error} onRetry={types.refetch} />;
  const found = types.data.data.find(({ slug }) => slug === type);
  return found === undefined ? (
    <Unknown />
  ) : (
    <Grid key={type} type={type} name={found.name} schema={found.schema} isSearchable={found.searchFields.length > 0} />
  );
}

function Unknown() {
  const data = useTexts(dataCatalog);
  const { states } = useTexts();
  return (
    <Empty title={states.notFoundTitle}>
      <p>{states.notFound}</p>
      <Link to="/$organization/$environment/data" params={usePlace()} className="text-accent underline">
        {data.title}
      </Link>
    </Empty>
  );
}

interface GridProps {
  type: string;
  name: string;
  schema: Record<string, string>;
  isSearchable: boolean;
}

function Grid({ type, name, schema, isSearchable }: GridProps) {
  const dataTexts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const place = usePlace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changes: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  const filters = toFilters(search.filters ?? [], schema);
  const input = {
    filters: filters as never,
    ...(search.sort && { sort: { field: pathOf(search.sort) as never, direction: search.direction ?? 'asc' } }),
    ...(search.deleted && { status: 'deleted' }),
  };
  const list = usePages<Entity>([...key, 'entities', type, search.q ?? '', input], async (cursor, signal) => {
    if (search.q === undefined) return client.data.query(type, { ...input, cursor }, { signal });
    const { data } = await client.data.search(type, { query: search.q, limit: 100 }, { signal });
    return { data, cursor: '', hasMore: false };
  });
  const { data: total } = useQuery({
    queryKey: [...key, 'entities', type, 'total', input],
    queryFn: async ({ signal }) =>
      (await client.data.query(type, { ...input, limit: 1, count: 'estimated' }, { signal })).total,
    enabled: search.q === undefined,
  });
  const [selected, select] = useState<ReadonlySet<string>>(new Set());
  const [at, setAt] = useState(-1);
  const searchBox = useRef<HTMLInputElement>(null);
  const toggle = (id: string) =>
    select((before) => (before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id])));
  const open = (entity: string | undefined) => void navigate({ search: (before) => ({ ...before, entity }) });
  useKeys({
    j: () => setAt((from) => Math.min(from + 1, list.items.length - 1)),
    k: () => setAt((from) => Math.max(from - 1, 0)),
    Enter: () => (list.items[at] && document.activeElement?.tagName !== 'BUTTON' ? open(list.items[at].id) : false),
    x: () => list.items[at] && toggle(list.items[at].id),
    '/': () => searchBox.current?.focus(),
  });
  useEffect(() => select(new Set()), [search.q, search.filters, search.deleted]);
  const columns = Object.keys(schema);
  const widthRem = 3 + 10 + columns.length * columnRem;
  const gridTemplateColumns = `repeat(${columns.length}, minmax(0, 1fr)) 10rem`;
  const isFiltered = search.q !== undefined || search.filters !== undefined || search.deleted === true;
  return (
    <div className="flex h-full flex-col">
      <ScreenHead
        title={name}
        before={
          <Link
            to="/$organization/$environment/data"
            params={place}
            aria-label={dataTexts.types}
            className="tap inline-flex h-8 w-8 items-center justify-center rounded hover:bg-n4"
          >
            <ArrowLeft aria-hidden size={16} />
          </Link>
        }
      >
        <span className="text-n11 tabular-nums">{total !== undefined && dataTexts.matches(formatNumber(total))}</span>
        {isSearchable && (
          <span className="flex max-w-64 min-w-40 flex-1">
            <SearchBox
              box={searchBox}
              value={search.q ?? ''}
              onChange={(q) => change({ q: q || undefined })}
              label={dataTexts.search}
            />
          </span>
        )}
        <Toggle
          label={dataTexts.deletedOnes}
          isOn={search.deleted === true}
          onChange={(isOn) => change({ deleted: isOn || undefined })}
        />
        <Button look="primary" icon={Plus} className="ml-auto" onClick={() => open('new')}>
          {dataTexts.create}
        </Button>
      </ScreenHead>
      <Filters
        type={type}
        schema={schema}
        rows={search.filters ?? []}
        onChange={(rows) => change({ filters: rows.length > 0 ? rows : undefined })}
      />
      {selected.size > 0 && (
        <Selection
          type={type}
          selected={selected}
          isDeleted={search.deleted === true}
          onDone={() => select(new Set())}
        />
      )}
      <div className="min-h-0 flex-1 overflow-x-auto">
        <div className="flex h-full flex-col" style={{ width: `max(100%, ${widthRem}rem)` }}>
          <div className="ml-12 grid h-8 shrink-0 border-b border-n5 bg-n2 text-n11" style={{ gridTemplateColumns }}>
            {columns.map((field) => (
              <SortButton
                key={field}
                field={field}
                isNumber={isNumeric(schema[field])}
                search={search}
                onSort={change}
              />
            ))}
            <SortButton field="updatedAt" label={dataTexts.updated} search={search} onSort={change} />
          </div>
          <div className="min-h-0 flex-1">
            <Rows
              list={list}
              rowPx={36}
              label={name}
              keyOf={({ id }) => id}
              current={at}
              empty={isFiltered ? <Empty title={dataTexts.noMatch} /> : <Empty title={dataTexts.noEntities} />}
              render={(entity, index) => (
                <div
                  className={`flex h-full items-center border-b border-n4 ${index === at ? 'bg-n3' : 'hover:bg-n2'}`}
                >
                  <label className="flex h-full w-12 shrink-0 cursor-pointer items-center justify-center">
                    <input
                      type="checkbox"
                      aria-label={entity.id}
                      checked={selected.has(entity.id)}
                      onChange={() => toggle(entity.id)}
                    />
                  </label>
                  <button
                    type="button"
                    onClick={() => (setAt(index), open(entity.id))}
                    className="grid h-full min-w-0 flex-1 items-center text-left"
                    style={{ gridTemplateColumns }}
                  >
                    {columns.map((field) => (
                      <Cell
                        key={field}
                        value={(entity.data as Record<string, unknown>)[field]}
                        isNumber={isNumeric(schema[field])}
                      />
                    ))}
                    <span className="truncate px-2 text-n11" title={formatExact(entity.updatedAt)}>
                      <Ago at={entity.updatedAt} />
                    </span>
                  </button>
                </div>
              )}
            />
          </div>
        </div>
      </div>
      {search.entity !== undefined && (
        <EntityDialog
          type={type}
          schema={schema}
          id={search.entity}
          isDeleted={search.deleted === true}
          onClose={() => open(undefined)}
        />
      )}
    </div>
  );
}

function SortButton({
  field,
  label = field,
  isNumber = false,
  search,
  onSort,
}: {
  field: string;
  label?: string;
  isNumber?: boolean;
  search: { sort?: string; direction?: 'asc' | 'desc' };
  onSort: (search: { sort?: string; direction?: 'asc' | 'desc' }) => void;
}) {
  const data = useTexts(dataCatalog);
  const isSorted = search.sort === field;
  const Icon = search.direction === 'desc' ? ArrowDown : ArrowUp;
  const next = !isSorted
    ? { sort: field, direction: 'asc' as const }
    : search.direction === 'asc'
      ? { sort: field, direction: 'desc' as const }
      : { sort: undefined, direction: undefined };
  return (
    <button
      type="button"
      title={data.sortBy(label)}
      onClick={() => onSort(next)}
      className={`flex min-w-0 items-center gap-1 truncate px-2 hover:bg-n4 ${isNumber ? 'justify-end' : ''}`}
    >
      <span className="truncate">{label}</span>
      {isSorted && <Icon aria-hidden size={12} />}
    </button>
  );
}

/** A value as its type is read best. Objects are shown as JSON; whole values are in the entity. */
function Cell({ value, isNumber }: { value: unknown; isNumber: boolean }) {
  const isObject = typeof value === 'object' && value !== null;
  const text =
    value === undefined || value === null
      ? ''
      : isObject
        ? JSON.stringify(value)
        : typeof value === 'number'
          ? formatNumber(value)
          : String(value);
  return (
    <span
      className={`truncate px-2 ${isNumber ? 'text-right tabular-nums' : ''} ${isObject ? 'font-mono text-xs text-n11' : ''}`}
    >
      {text.slice(0, 300)}
    </span>
  );
}

function Selection({
  type,
  selected,
  isDeleted,
  onDone,
}: {
  type: string;
  selected: ReadonlySet<string>;
  isDeleted: boolean;
  onDone: () => void;
}) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const { client, key } = useWorkspace();
  const cache = useQueryClient();
  const [isAsked, ask] = useState(false);
  const run = useMutation({
    mutationFn: async () => {
      const ids = [...selected];
      for (let from = 0; from < ids.length; from += bulkSize) {
        const operations = ids
          .slice(from, from + bulkSize)
          .map((id) =>
            isDeleted
              ? { action: 'update' as const, id, data: {}, status: 'active' }
              : { action: 'delete' as const, id },
          );
        const { results } = await client.data.bulk(type, { operations });
        const failed = results.find((result) => !result.ok);
        if (failed && !failed.ok) throw new Error(failed.error);
      }
    },
    onSuccess: () => (ask(false), onDone()),
    onSettled: () => cache.invalidateQueries({ queryKey: [...key, 'entities', type] }),
  });
  return (
    <div className="flex flex-wrap items-center gap-2 border-b border-n5 bg-accent-soft px-4 py-1.5">
      <span>{texts.selected(selected.size)}</span>
      {isDeleted ? (
        <Button isBusy={run.isPending} onClick={() => run.mutate()}>
          {texts.restore}
        </Button>
      ) : (
        <Button look="danger" onClick={() => ask(true)}>
          {texts.remove(selected.size)}
        </Button>
      )}
      <Button look="quiet" onClick={onDone}>
        {texts.clear}
      </Button>
      {run.error && <span className="text-failed">{messageOf(run.error)}</span>}
      {isAsked && (
        <Dialog title={texts.remove(selected.size)} onClose={() => ask(false)}>
          <p className="mb-4">{texts.removeQuestion(selected.size, type)}</p>
          {run.error && <Notice kind="failed">{messageOf(run.error)}</Notice>}
          <div className="flex justify-end gap-2">
            <Button onClick={() => ask(false)}>{states.cancel}</Button>
            <Button look="danger" isBusy={run.isPending} onClick={() => run.mutate()}>
              {texts.remove(selected.size)}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
