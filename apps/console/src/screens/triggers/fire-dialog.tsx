import type { JsonObject } from '@parley/client';
import { ownValue } from '@parley/rows';
import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTypes } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { FormDialog } from '../../parts/form-dialog';
import { JsonField } from '../../parts/json-field';
import { parseObject } from '../../parts/parse-object';
import { TextLink, linkTo } from '../../parts/link';
import { Status } from '../../parts/status';
import { type Trigger, useTriggerDefinition } from './queries';
import { triggersCatalog } from './texts';

const samples: Record<string, unknown> = {
  string: 'text',
  number: 1,
  boolean: true,
  array: [],
  object: {},
};

/** Data that fits the schema of an entity type. */
const sampleOf = (schema: Record<string, string> = {}): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).map(([field, type]) => [field, ownValue(samples, type) ?? null]),
  ) as JsonObject;

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
  const text =
    written ??
    (entityId === '' && on.entityType ? JSON.stringify(sampleOf(schema), null, 2) : '{}');
  const parsed = parseObject(text.trim() || '{}');
  const fire = useChange(
    (data: JsonObject) =>
      client.request<{ result: { runId: string } }>({
        method: 'POST',
        path: ['fire-trigger'],
        isUnsafe: true,
        body: { triggerSlug: slug, data, ...(entityId !== '' && { entityId }) },
      }),
    'trigger-runs',
    'triggers',
    'health',
  );
  return (
    <FormDialog
      title={triggers.fire}
      action={triggers.fire}
      run={fire}
      isReady={'value' in parsed}
      onSubmit={() => 'value' in parsed && fire.mutate(parsed.value)}
      onClose={onClose}
      wide
    >
      <p>
        {triggers.fireNote(
          (definition?.actions ?? []).map(({ tool }) => tool).join(', ') || states.noValue,
        )}
      </p>
      {on.entityType && (
        <EntityField type={on.entityType} value={entityId} onChange={setEntityId} />
      )}
      <JsonField
        label={triggers.fireData}
        rows={8}
        value={text}
        onChange={({ target }) => setWritten(target.value)}
        hint={on.entityType ? triggers.fireDataHint : undefined}
        error={'value' in parsed ? undefined : triggers.notAnObject}
      />
      {(fire.isSuccess || fire.isError) && <RunLink slug={slug} runId={fire.data?.result.runId} />}
    </FormDialog>
  );
}

/** The id of an entity, with the newest ones to choose from. */
function EntityField({
  type,
  value,
  onChange,
}: {
  type: string;
  value: string;
  onChange: (id: string) => void;
}) {
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

/** What firing led to. The answer to a failed one does not name its run, which is the newest. */
function RunLink({ slug, runId }: { slug: string; runId?: string }) {
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const { data: newest } = useQuery({
    queryKey: [...key, 'trigger-runs', 'newest', slug],
    queryFn: ({ signal }) => api.listTriggerRuns({ trigger: slug, limit: 1 }, { signal }),
    enabled: runId === undefined,
  });
  const id = runId ?? newest?.data[0]?.id;
  if (id === undefined) return null;
  const to = linkTo({ to: 'trigger-runs/$runId', params: { runId: id } });
  return (
    <p role="status" className="flex flex-wrap items-center gap-2">
      {runId && <Status status="succeeded" text={triggers.fired} />}
      <TextLink {...to}>{runId ? triggers.openRun : triggers.newestRun}</TextLink>
    </p>
  );
}
