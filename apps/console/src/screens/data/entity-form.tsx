import { type Entity, type Json, type JsonObject, ParleyApiError } from '@parley/client';
import { ownValue, setOwn, writeValue } from '@parley/rows';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { messageOf } from '../../api/errors';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { Button, Field } from '../../parts/controls';
import { Notice, Problem } from '../../parts/states';
import { type DataField, type DataType } from './fields';
import { fieldNamed } from './search';
import { dataCatalog } from './texts';
import { useLeaveGuard } from './leave-guard';
import { ValueInput } from './value-input';
import { typedValue } from './values';

interface EntityFormProps {
  type: DataType;
  /** Undefined for a new one. */
  entity: Entity | undefined;
  focusField?: string;
  onClose: () => void;
  onCreated: (id: string) => void;
}

type Texts = Record<string, string>;

const textOf = (value: Json | undefined): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : writeValue(value);

/** The fields of a type, and those that only this entity has. */
function fieldsFor({ fields }: DataType, entity: Entity | undefined): DataField[] {
  const own = Object.keys(entity?.data ?? {}).filter(
    (name) => !fields.some((field) => field.name === name),
  );
  return [...fields, ...own.map((name) => fieldNamed(name, []))];
}

/**
 * Edits an entity. Only what the person has changed is sent, so that changes of others to
 * other fields stay.
 */
export function EntityForm({ type, entity, focusField, onClose, onCreated }: EntityFormProps) {
  const texts = useTexts(dataCatalog);
  const { client, key } = useWorkspace();
  const cache = useQueryClient();
  /** The texts that differ from what was stored when they were typed. */
  const [typed, setTyped] = useState<Texts>({});
  const [status, setStatus] = useState<string>();
  const [problems, setProblems] = useState<Texts>({});
  const [base, setBase] = useState(entity);
  const isDirty = Object.keys(typed).length > 0 || status !== undefined;
  // Without unsaved texts the form follows what is stored.
  if (!isDirty && base !== entity) setBase(entity);
  const stored = (base?.data ?? {}) as Record<string, Json>;
  const fields = fieldsFor(type, base);
  const isDeleted = entity?.status === 'deleted';
  const isNewer =
    isDirty && entity !== undefined && base !== undefined && entity.updatedAt > base.updatedAt;
  const reset = () => {
    setTyped({});
    setStatus(undefined);
    setProblems({});
    setBase(entity);
  };
  const guard = useLeaveGuard(isDirty);
  const save = useMutation({
    mutationFn: async (data: JsonObject): Promise<Entity> => {
      const input = { data, ...(status !== undefined && status !== '' && { status }) };
      return (
        entity === undefined
          ? await client.data.create(type.slug, input)
          : await client.data.update(type.slug, entity.id, input)
      ) as Entity;
    },
    onSuccess: (saved) => {
      cache.setQueryData([...key, 'entities', type.slug, 'one', saved.id], saved);
      guard.allow();
      setTyped({});
      setStatus(undefined);
      if (entity === undefined) onCreated(saved.id);
    },
    onError: (error) => setProblems(problemsOf(error)),
    onSettled: () => cache.invalidateQueries({ queryKey: [...key, 'entities', type.slug] }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const data: JsonObject = {};
    const found: Texts = {};
    for (const [name, text] of Object.entries(typed)) {
      const read = typedValue(text, fieldNamed(name, fields));
      if (!read.ok) setOwn(found, name, texts.expected(read.expected));
      else if (entity !== undefined || read.value !== null) setOwn(data, name, read.value);
    }
    setProblems(found);
    if (Object.keys(found).length === 0 && !save.isPending) save.mutate(data);
  };
  const set = (name: string, text: string) => {
    const { [name]: _, ...rest } = typed;
    setTyped(text === textOf(ownValue(stored, name)) ? rest : { ...rest, [name]: text });
  };
  const formId = useId();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const wanted = focusField ?? (entity === undefined ? fields[0]?.name : undefined);
    if (wanted === undefined) return;
    const place = form.current?.querySelector(`[data-field="${CSS.escape(wanted)}"]`);
    place?.querySelector<HTMLElement>('input, textarea, select')?.focus();
    // Only when the form or another field of it is opened.
  }, [focusField]);
  const other = save.error && Object.keys(problems).length === 0 ? messageOf(save.error) : null;
  return (
    <>
      <form ref={form} id={formId} onSubmit={submit} noValidate className="space-y-4">
        {isNewer && (
          <Notice>
            {texts.changedMeanwhile}
            <Button onClick={reset}>{texts.showStored}</Button>
          </Notice>
        )}
        {fields.map((field) => {
          const problem = ownValue(problems, field.name);
          return (
            <div key={field.name} data-field={field.name}>
              <ValueInput
                field={field}
                value={ownValue(typed, field.name) ?? textOf(ownValue(stored, field.name))}
                onChange={(text) => set(field.name, text)}
                isReadOnly={isDeleted}
                isInvalid={problem !== undefined}
                describedBy={problem === undefined ? undefined : `problem-${field.name}`}
              />
              {problem !== undefined && (
                <p id={`problem-${field.name}`} role="alert" className="mt-1 text-xs text-failed">
                  {problem}
                </p>
              )}
            </div>
          );
        })}
        {fields.length === 0 && <p className="text-n11">{texts.noFields}</p>}
        {!isDeleted && (
          <AddField
            names={fields.map(({ name }) => name)}
            added={typed}
            onAdd={(name) => setTyped({ ...typed, [name]: '' })}
          />
        )}
        {Object.keys(typed)
          .filter((name) => !fields.some((field) => field.name === name))
          .map((name) => (
            <ValueInput
              key={name}
              field={fieldNamed(name, [])}
              value={ownValue(typed, name)!}
              onChange={(text) => setTyped({ ...typed, [name]: text })}
            />
          ))}
        {!isDeleted && (
          <Field
            label={texts.status}
            hint={texts.statusHint}
            maxLength={64}
            value={status ?? base?.status ?? 'active'}
            onChange={({ target }) =>
              setStatus(target.value === (base?.status ?? 'active') ? undefined : target.value)
            }
          />
        )}
        <Problem error={other && texts.notValid(other)} />
      </form>
      <Actions
        type={type}
        entity={entity}
        isDirty={isDirty}
        onClose={onClose}
        formId={formId}
        isSaving={save.isPending}
        onReset={reset}
        onGone={() => guard.allow()}
      />
      {guard.dialog}
    </>
  );
}

/** The reasons of the server by field, such as `data.price`. */
function problemsOf(error: unknown): Texts {
  if (!(error instanceof ParleyApiError)) return {};
  return Object.fromEntries(
    (error.details ?? []).flatMap(({ path, message }) => {
      const name = /^data\.([^.]+)/.exec(path)?.[1];
      return name === undefined ? [] : [[name, message]];
    }),
  );
}

function Actions({
  type,
  entity,
  isDirty,
  isSaving,
  formId,
  onReset,
  onGone,
  onClose,
}: {
  type: DataType;
  entity: Entity | undefined;
  isDirty: boolean;
  isSaving: boolean;
  /** It is beside the form, because its dialogs have forms of their own. */
  formId: string;
  onReset: () => void;
  onGone: () => void;
  onClose: () => void;
}) {
  const texts = useTexts(dataCatalog);
  const { client } = useWorkspace();
  const remove = useChange(() => client.data.delete(type.slug, entity!.id), 'entities');
  const restore = useChange(
    () =>
      client.data.update(type.slug, entity!.id, { data: {}, status: 'active' }) as Promise<unknown>,
    'entities',
  );
  if (entity?.status === 'deleted')
    return (
      <div className="mt-4 flex flex-wrap items-center gap-2">
        <Button look="primary" isBusy={restore.isPending} onClick={() => restore.mutate()}>
          {texts.restore}
        </Button>
        <Problem error={restore.error} />
      </div>
    );
  return (
    <div className="sticky -bottom-4 -mx-4 mt-4 -mb-4 flex gap-2 border-t border-n5 bg-n1 px-4 py-3">
      <Button
        type="submit"
        form={formId}
        look="primary"
        isBusy={isSaving}
        disabled={entity !== undefined && !isDirty}
      >
        {entity === undefined ? texts.create : texts.save}
      </Button>
      {isDirty && entity !== undefined && (
        <Button look="quiet" onClick={onReset}>
          {texts.discard}
        </Button>
      )}
      {entity !== undefined && (
        <ConfirmButton
          action={texts.remove(1, '1')}
          question={texts.removeQuestion(1, '1', type.name)}
          name={type.slug}
          buttonLook="quiet"
          className="ml-auto text-failed"
          change={remove}
          onDone={() => {
            onGone();
            onClose();
          }}
        />
      )}
    </div>
  );
}

/** Adds a field that the type does not declare. */
function AddField({
  names,
  added,
  onAdd,
}: {
  names: readonly string[];
  added: Texts;
  onAdd: (name: string) => void;
}) {
  const texts = useTexts(dataCatalog);
  const [name, setName] = useState<string>();
  const isUsable =
    name !== undefined &&
    name.trim() !== '' &&
    !names.includes(name.trim()) &&
    !Object.hasOwn(added, name.trim());
  if (name === undefined)
    return (
      <Button look="quiet" onClick={() => setName('')}>
        {texts.addField}
      </Button>
    );
  const add = () => {
    if (!isUsable) return;
    onAdd(name.trim());
    setName(undefined);
  };
  return (
    <div className="flex items-end gap-2">
      <Field
        className="flex-1"
        label={texts.newFieldName}
        autoFocus
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          add();
        }}
      />
      <Button disabled={!isUsable} onClick={add}>
        {texts.addField}
      </Button>
    </div>
  );
}
