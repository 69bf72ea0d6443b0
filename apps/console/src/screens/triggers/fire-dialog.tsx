import type { JsonObject } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { Link, linkOptions } from '@tanstack/react-router';
import { type FormEvent, useId, useState } from 'react';
import { useTypes } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, Field } from '../../parts/controls';
import { Dialog } from '../../parts/dialog';
import { Problem } from '../../parts/states';
import { Status } from '../../parts/status';
import { type Trigger, useTriggerDefinition } from './queries';
import { triggersCatalog } from './texts';

const samples: Record<string, unknown> = { string: 'text', number: 1, boolean: true, array: [], object: {} };

/** Data that fits the schema of an entity type. */
const sampleOf = (schema: Record<string, string> = {}): JsonObject =>
  Object.fromEntries(Object.entries(schema).map(([field, type]) => [field, samples[type] ?? null])) as JsonObject;

function objectOf(text: string): JsonObject | null {
  try {
    const value: unknown = text.trim() === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

/** Runs the actions of a trigger now, with sample data or an entity. */
export function FireDialog({ trigger, onClose }: { trigger: Trigger; onClose: () => void }) {
  const { slug, on } = trigger;
  const { states } = useTexts();
  const triggers = useTexts(triggersCatalog);
  const { client } = useWorkspace();
  const { data: definition } = useTriggerDefinition(slug);
  const { data: types } = useTypes();
  const [entityId, setEntityId] = useState('');
  const [written, setWritten] = useState<string | null>(null);
  const schema = types?.data.find((type) => type.slug === on.entityType)?.schema;
  // With an entity its own data is used, and without one there must be some.
  const text = written ?? (entityId === '' && on.entityType ? JSON.stringify(sampleOf(schema), null, 2) : '{}');
  const data = objectOf(text);
  const fire = useChange(
    () =>
      client.request<{ result: { runId: string } }>({
        ...{ method: 'POST', path: ['fire-trigger'], isUnsafe: true },
        body: { triggerSlug: slug, data, ...(entityId !== '' && { entityId }) },
      }),
    'trigger-runs',
    'triggers',
    'health',
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (data !== null && !fire.isPending) fire.mutate();
  };
  return (
    <Dialog title={triggers.fire} onClose={onClose} wide>
      <form onSubmit={submit} className="space-y-4">
        <p>{triggers.fireNote((definition?.actions ?? []).map(({ tool }) => tool).join(', ') || states.noValue)}</p>
        {on.entityType && <EntityField type={on.entityType} value={entityId} onChange={setEntityId} />}
        <DataField
          text={text}
          onChange={setWritten}
          hint={on.entityType ? triggers.fireDataHint : undefined}
          error={data === null ? triggers.notAnObject : undefined}
        />
        <Problem error={fire.error} />
        {(fire.isSuccess || fire.isError) && <RunLink slug={slug} runId={fire.data?.result.runId} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{fire.data ? states.close : states.cancel}</Button>
          <Button type="submit" look="primary" isBusy={fire.isPending} disabled={data === null}>
            {triggers.fire}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** The id of an entity, with the newest ones to choose from. */
function EntityField({ type, value, onChange }: { type: string; value: string; onChange: (id: string) => void }) {
  const triggers = useTexts(triggersCatalog);
  const { client, key } = useWorkspace();
  const listId = useId();
  const { data } = useQuery({
    queryKey: [...key, 'entities', type, 'newest'],
    queryFn: ({ signal }) => client.data.list(type, { limit: 20 }, { signal }),
  });
  return (
    <>
      <Field
        label={triggers.fireEntity(type)}
        hint={triggers.fireEntityHint}
        list={listId}
        value={value}
        autoComplete="off"
        maxLength={200}
        onChange={({ target }) => onChange(target.value.trim())}
      />
      <datalist id={listId}>
        {(data?.data ?? []).map((entity) => (
          <option key={entity.id} value={entity.id}>
            {JSON.stringify(entity.data).slice(0, 80)}
          </option>
        ))}
      </datalist>
    </>
  );
}

interface DataFieldProps {
  text: string;
  onChange: (text: string) => void;
  hint?: string;
  error?: string;
}

function DataField({ text, onChange, hint, error }: DataFieldProps) {
  const triggers = useTexts(triggersCatalog);
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-n11">
        {triggers.fireData}
      </label>
      <textarea
        id={id}
        rows={8}
        value={text}
        spellCheck={false}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-hint`}
        onChange={({ target }) => onChange(target.value)}
        className="w-full rounded border border-n8 bg-n1 p-2 font-mono text-xs"
      />
      <p id={`${id}-hint`} className={`text-xs ${error ? 'text-failed' : 'text-n10'}`}>
        {error ?? hint}
      </p>
    </div>
  );
}

/** What firing led to. The answer to a failed one does not name its run, which is the newest. */
function RunLink({ slug, runId }: { slug: string; runId?: string }) {
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const params = usePlace();
  const { data: newest } = useQuery({
    queryKey: [...key, 'trigger-runs', 'newest', slug],
    queryFn: ({ signal }) => api.listTriggerRuns({ trigger: slug, limit: 1 }, { signal }),
    enabled: runId === undefined,
  });
  const id = runId ?? newest?.data[0]?.id;
  if (id === undefined) return null;
  const to = linkOptions({
    to: '/$organization/$environment/trigger-runs/$runId',
    params: { ...params, runId: id },
    search: {},
  });
  return (
    <p role="status" className="flex flex-wrap items-center gap-2">
      {runId && <Status status="succeeded" text={triggers.fired} />}
      <Link {...to} className="text-accent underline">
        {runId ? triggers.openRun : triggers.newestRun}
      </Link>
    </p>
  );
}
