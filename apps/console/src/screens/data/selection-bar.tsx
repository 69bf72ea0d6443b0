import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../api/errors';
import type { Workspace } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Button, Choice } from '../../parts/controls';
import { Confirm } from '../../parts/confirm';
import { FormDialog } from '../../parts/form-dialog';
import { startWork } from '../../work/work';
import { type Operation, type Query, change, groupsOf } from './bulk';
import type { DataField, DataType } from './fields';
import { dataCatalog } from './texts';
import type { Selection } from './use-selection';
import { ValueInput } from './value-input';
import { typedValue } from './values';

/** What a bulk change is made to. */
type Target = { ids: readonly string[] } | { query: Query };

interface BulkTexts {
  title: string;
  done: (count: string) => string;
}

/** Changes entities in the background, in requests of at most 500. */
function startBulk(
  { client }: Workspace,
  type: string,
  target: Target,
  { title, done: doneText }: BulkTexts,
  total: number,
  operationOf: (id: string) => Operation,
  onEnd: () => void,
): void {
  let done = 0;
  let changed = 0;
  startWork(
    title,
    async (progress) => {
      const groups =
        'ids' in target ? [target.ids] : idsOf(groupsOf(client, type, target.query, progress));
      try {
        for await (const ids of groups)
          await change(client, type, ids.map(operationOf), progress, (at, reason) => {
            done += 1;
            if (reason === null) changed += 1;
            else progress.refuse({ item: ids[at]!, reason });
            progress.advance(done, Math.max(total, done));
          });
      } finally {
        onEnd();
      }
      return { message: doneText(formatNumber(changed)) };
    },
    { total, onStopped: () => ({ message: doneText(formatNumber(changed)) }) },
  );
}

async function* idsOf(groups: AsyncIterable<{ id: string }[]>): AsyncGenerator<string[]> {
  for await (const group of groups) yield group.map(({ id }) => id);
}

/** What can be done with the selected entities. */
export function SelectionBar({
  type,
  selection,
  query,
  canSelectAll,
}: {
  type: DataType;
  selection: Selection;
  query: Query;
  /** A search finds at most 100 entities, which are all loaded. */
  canSelectAll: boolean;
}) {
  const texts = useTexts(dataCatalog);
  const workspace = useWorkspace();
  const { client, key } = workspace;
  const cache = useQueryClient();
  const [asked, ask] = useState<'delete' | 'set' | null>(null);
  const exact = useQuery({
    queryKey: [...key, 'entities', type.slug, 'exact', query],
    queryFn: async ({ signal }) =>
      (
        await client.data.query(
          type.slug,
          { ...query, sort: undefined, limit: 1, count: 'exact' } as never,
          { signal },
        )
      ).total!,
    enabled: canSelectAll,
  });
  const { isEverything, ids } = selection;
  const count = isEverything ? exact.data : ids.size;
  const isDeleted = query.status === 'deleted';
  const number = formatNumber(count ?? 0);
  const run = (bulkTexts: BulkTexts, operationOf: (id: string) => Operation) => {
    if (count === undefined) return;
    const refresh = () =>
      void cache.invalidateQueries({ queryKey: [...key, 'entities', type.slug] });
    const target = isEverything ? { query } : { ids: [...ids] };
    startBulk(workspace, type.slug, target, bulkTexts, count, operationOf, refresh);
    ask(null);
    selection.clear();
  };
  const remove = () =>
    run({ title: texts.removing(number, type.name), done: texts.removed }, (id) => ({
      action: 'delete',
      id,
    }));
  const restore = () =>
    run({ title: texts.restoring(number, type.name), done: texts.restored }, (id) => ({
      action: 'update',
      id,
      data: {},
      status: 'active',
    }));
  return (
    <div
      role="toolbar"
      aria-label={texts.selection}
      className="flex min-h-11 flex-wrap items-center gap-2 border-b border-n5 bg-accent-soft px-4 py-1.5"
    >
      <span role="status">
        {isEverything
          ? count === undefined
            ? '…'
            : texts.allSelected(number)
          : texts.selected(ids.size)}
      </span>
      {canSelectAll && !isEverything && exact.data !== undefined && exact.data > ids.size && (
        <Button look="quiet" className="text-accent" onClick={selection.selectEverything}>
          {texts.selectAll(formatNumber(exact.data))}
        </Button>
      )}
      {exact.error && <span className="text-failed">{messageOf(exact.error)}</span>}
      <span className="ml-auto flex flex-wrap gap-2">
        {isDeleted ? (
          <Button onClick={restore}>{texts.restoreCount(number)}</Button>
        ) : (
          <>
            <Button onClick={() => ask('set')}>{texts.setField}</Button>
            <Button look="danger" onClick={() => ask('delete')}>
              {texts.remove(count ?? 0, number)}
            </Button>
          </>
        )}
        <Button look="quiet" onClick={selection.clear}>
          {texts.clear}
        </Button>
      </span>
      {asked === 'delete' && count !== undefined && (
        <Confirm
          title={texts.remove(count, number)}
          question={texts.removeQuestion(count, number, type.name)}
          action={texts.remove(count, number)}
          name={type.slug}
          run={{ mutate: remove, isPending: false, error: null }}
          onClose={() => ask(null)}
        />
      )}
      {asked === 'set' && count !== undefined && (
        <SetField
          type={type}
          count={count}
          onClose={() => ask(null)}
          onSet={(field, value) =>
            run({ title: texts.setting(field.name, number), done: texts.changed }, (id) => ({
              action: 'update',
              id,
              data: { [field.name]: value },
            }))
          }
        />
      )}
    </div>
  );
}

function SetField({
  type: { fields, slug },
  count,
  onSet,
  onClose,
}: {
  type: DataType;
  count: number;
  onSet: (
    field: DataField,
    value: Extract<ReturnType<typeof typedValue>, { ok: true }>['value'],
  ) => void;
  onClose: () => void;
}) {
  const texts = useTexts(dataCatalog);
  const [name, setName] = useState(fields[0]?.name ?? '');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const field = fields.find((one) => one.name === name);
  const submit = () => {
    if (field === undefined) return;
    const read = typedValue(text, field);
    if (read.ok) onSet(field, read.value);
    else setProblem(texts.expected(read.expected));
  };
  const number = formatNumber(count);
  return (
    <FormDialog
      title={texts.setField}
      action={texts.changeCount(number)}
      run={{ error: problem }}
      onSubmit={submit}
      onClose={onClose}
    >
      <Choice
        label={texts.field}
        value={name}
        className="w-full"
        onChange={({ target }) => {
          setName(target.value);
          setText('');
          setProblem(null);
        }}
        options={fields.map((one) => [one.name, one.name] as const)}
      />
      {field && (
        <ValueInput key={name} field={field} label={texts.value} value={text} onChange={setText} />
      )}
      <p className="text-n11">
        {text === '' ? texts.willEmpty(number, slug) : texts.willSet(number, slug)}
      </p>
    </FormDialog>
  );
}
