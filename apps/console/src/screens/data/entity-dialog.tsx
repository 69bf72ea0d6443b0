import type { Entity, JsonObject } from '@parley/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { isMissing, messageOf } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, CopyText } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Json } from '../../parts/json';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { dataCatalog } from './texts';

interface EntityDialogProps {
  type: string;
  schema: Record<string, string>;
  /** `new` for one that does not exist yet. */
  id: string;
  isDeleted: boolean;
  onClose: () => void;
}

export function EntityDialog(props: EntityDialogProps) {
  const { type, id, isDeleted, onClose } = props;
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const isNew = id === 'new';
  const entity = useQuery({
    queryKey: [...key, 'entities', type, 'one', id],
    queryFn: async ({ signal }): Promise<Entity> => {
      if (!isDeleted) return client.data.get(type, id, { signal });
      const { data } = await client.data.query(type, { filters: { id } as never, status: 'deleted' }, { signal });
      return data[0] ?? client.data.get(type, id, { signal });
    },
    enabled: !isNew,
  });
  return (
    <Dialog title={isNew ? texts.create : type} onClose={onClose} wide>
      {isNew || entity.data ? (
        <EntityForm {...props} key={entity.data?.updatedAt} entity={entity.data} />
      ) : entity.isPending ? (
        <Skeleton />
      ) : (
        <Failure error={entity.error} onRetry={isMissing(entity.error) ? undefined : entity.refetch} />
      )}
    </Dialog>
  );
}

/** A value as its input shows it. Texts are shown plainly, everything else as JSON. */
const toInput = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

/** The value of an input; throws for a text that is not of its type. */
function fromInput(text: string, type: string): JsonObject[string] {
  if (text === '') return null;
  if (type === 'string') return text;
  if (type === 'number' || type === 'integer') return Number.isFinite(Number(text)) ? Number(text) : text;
  return JSON.parse(text) as JsonObject[string];
}

function EntityForm({ type, schema, entity, isDeleted, onClose }: EntityDialogProps & { entity: Entity | undefined }) {
  const texts = useTexts(dataCatalog);
  const { states } = useTexts();
  const { client, key } = useWorkspace();
  const cache = useQueryClient();
  const [problem, setProblem] = useState<string | null>(null);
  const [isAsked, ask] = useState(false);
  const stored = (entity?.data ?? {}) as Record<string, unknown>;
  const fields = [...new Set([...Object.keys(schema), ...Object.keys(stored)])];
  const save = useMutation({
    mutationFn: async (data: JsonObject): Promise<unknown> =>
      entity === undefined
        ? client.data.create(type, {
            data: Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null)),
          })
        : client.data.update(type, entity.id, { data }),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: [...key, 'entities', type] }),
  });
  const change = useMutation({
    mutationFn: (status: 'active' | 'deleted'): Promise<unknown> =>
      status === 'deleted'
        ? client.data.delete(type, entity!.id)
        : client.data.update(type, entity!.id, { data: {}, status }),
    onSuccess: onClose,
    onSettled: () => cache.invalidateQueries({ queryKey: [...key, 'entities', type] }),
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const data: JsonObject = {};
    for (const field of fields) {
      const text = String(form.get(field) ?? '');
      if (text === toInput(stored[field])) continue;
      try {
        data[field] = fromInput(text, schema[field] ?? (typeof stored[field] === 'string' ? 'string' : 'json'));
      } catch (error) {
        return setProblem(`${field}: ${(error as Error).message}`);
      }
    }
    setProblem(null);
    save.mutate(data);
  };
  const failed = problem ?? (save.error ? messageOf(save.error) : change.error ? messageOf(change.error) : null);
  return (
    <form onSubmit={submit} className="space-y-4">
      {entity && (
        <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-n11">
          <CopyText text={entity.id} />
          <span>
            {texts.status}: {entity.status}
          </span>
          <span>
            {texts.created} <Ago at={entity.createdAt} />
          </span>
          <span>
            {texts.updated} <Ago at={entity.updatedAt} />
          </span>
        </p>
      )}
      <div className="space-y-3">
        {fields.map((field) => (
          <ValueField
            key={field}
            name={field}
            type={schema[field] ?? ''}
            value={toInput(stored[field])}
            isReadOnly={isDeleted}
          />
        ))}
      </div>
      {failed && (
        <div role="alert">
          <Notice kind="failed">{texts.notValid(failed)}</Notice>
        </div>
      )}
      {isAsked && (
        <Notice kind="failed">
          {texts.removeQuestion(1, type)}
          <Button look="danger" isBusy={change.isPending} onClick={() => change.mutate('deleted')}>
            {texts.remove(1)}
          </Button>
          <Button look="quiet" onClick={() => ask(false)}>
            {states.cancel}
          </Button>
        </Notice>
      )}
      <div className="flex gap-2">
        {isDeleted ? (
          <Button isBusy={change.isPending} onClick={() => change.mutate('active')}>
            {texts.restore}
          </Button>
        ) : (
          <>
            <Button type="submit" look="primary" isBusy={save.isPending}>
              {entity === undefined ? texts.create : texts.save}
            </Button>
            {entity && !isAsked && (
              <Button look="quiet" className="ml-auto text-failed" onClick={() => ask(true)}>
                {texts.remove(1)}
              </Button>
            )}
          </>
        )}
      </div>
      {entity && <History type={type} id={entity.id} />}
    </form>
  );
}

function ValueField({
  name,
  type,
  value,
  isReadOnly,
}: {
  name: string;
  type: string;
  value: string;
  isReadOnly: boolean;
}) {
  const id = useId();
  const isLong = value.length > 60 || value.includes('\n') || type === 'object' || type === 'array';
  const look = 'w-full rounded border border-n8 bg-n1 px-2 read-only:bg-n2';
  return (
    <div>
      <label htmlFor={id} className="mb-1 flex gap-2">
        <span className="text-n12">{name}</span>
        <span className="text-n10">{type}</span>
      </label>
      {type === 'boolean' ? (
        <select id={id} name={name} defaultValue={value} disabled={isReadOnly} className={`tap h-8 ${look}`}>
          {['', 'true', 'false'].map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          id={id}
          name={name}
          defaultValue={value}
          readOnly={isReadOnly}
          rows={Math.min(10, Math.max(3, Math.ceil(value.length / 60)))}
          className={`py-1 ${type === 'object' || type === 'array' ? 'font-mono text-xs' : ''} ${look}`}
        />
      ) : (
        <input
          id={id}
          name={name}
          defaultValue={value}
          readOnly={isReadOnly}
          inputMode={type === 'number' || type === 'integer' ? 'decimal' : undefined}
          className={`tap h-8 ${look}`}
        />
      )}
    </div>
  );
}

/** The recorded changes of an entity, newest first. */
function History({ type, id }: { type: string; id: string }) {
  const texts = useTexts(dataCatalog);
  const { api, key } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: [...key, 'entities', type, 'history', id],
    queryFn: ({ signal }) => api.listEvents({ entityType: type, entityId: id, limit: 20 }, { signal }),
    enabled: isOpen,
  });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary className="text-n11">{texts.history}</summary>
      {data?.data.length === 0 && <p className="mt-2 text-n11">{texts.noHistory}</p>}
      <ol className="mt-2 space-y-3">
        {data?.data.map((event) => (
          <li key={event.id}>
            <p>
              {event.type} · {String(event.actor.type)} · <Ago at={event.createdAt} />
            </p>
            <Json label="" value={event.payload} />
          </li>
        ))}
      </ol>
    </details>
  );
}
