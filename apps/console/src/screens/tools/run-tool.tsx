import { ParleyApiError } from '@parley/client';
import { type FormEvent, useState } from 'react';
import { useAgents } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatDuration, useTexts } from '../../i18n';
import { Button, Choice, CopyText } from '../../parts/controls';
import { Confirm } from '../../parts/confirm';
import { JsonField } from '../../parts/json-field';
import { parseObject } from '../../parts/parse-object';
import { Json, Logs } from '../../parts/json';
import { Section } from '../../parts/section';
import { Notice } from '../../parts/states';
import { listsTool } from '../build/definitions';
import { sampleArguments } from './sample-arguments';
import { toolsCatalog } from './texts';
import type { ListedTool } from './listed-tool';

interface Run {
  agent: { name: string } | null;
  result?: unknown;
  logs?: { level: string; message: string }[];
  durationMs: number;
}

/** Runs a tool once, as the system or as an agent, as a conversation would. */
export function RunTool({ tool }: { tool: ListedTool }) {
  const texts = useTexts(toolsCatalog);
  const { client, environment, isAdmin } = useWorkspace();
  const agents = useAgents().items;
  const [agentSlug, setAgent] = useState('');
  const [text, setText] = useState(() => JSON.stringify(sampleArguments(tool.parameters), null, 2));
  const [isAsking, ask] = useState(false);
  const parsed = parseObject(text);
  const run = useChange<Run>(
    () => {
      const args = 'value' in parsed ? parsed.value : {};
      const body = { toolName: tool.name, args, ...(agentSlug && { agentSlug }) };
      // A call whose answer is lost may have had its effect.
      return client.request({ method: 'POST', path: ['run-tool'], body, isUnsafe: true });
    },
    'entity-types',
    'definitions',
    'entities',
  );
  const error =
    'value' in parsed
      ? undefined
      : parsed.problem === null
        ? texts.notObject
        : texts.notJson(parsed.problem);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (error !== undefined) return;
    if (environment === 'production' && tool.sideEffects) ask(true);
    else run.mutate();
  };
  if (environment === 'production' && !isAdmin) return <Notice>{texts.runForbidden}</Notice>;
  // Agents that have the tool come first: with the others it shows how the call is denied.
  const sorted = agents.toSorted(
    (one, other) =>
      Number(listsTool(other.tools, tool.name)) - Number(listsTool(one.tools, tool.name)),
  );
  return (
    <div className="min-w-0 space-y-4 rounded border border-n5 p-3 xl:sticky xl:top-4">
      <Section title={texts.runTool}>
        <form onSubmit={submit} className="space-y-3">
          <p className="text-n11">{texts.runHint(environment)}</p>
          <Choice
            label={texts.as}
            value={agentSlug}
            onChange={({ target }) => setAgent(target.value)}
            options={[
              ['', `${texts.as}: ${texts.asSystem}`],
              ...sorted.map(({ slug }) => [slug, `${texts.as}: ${slug}`] as const),
            ]}
          />
          <JsonField
            label={texts.args}
            rows={Math.min(16, Math.max(4, text.split('\n').length))}
            value={text}
            maxLength={1_000_000}
            error={error}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={(event) =>
              event.key === 'Enter' && (event.ctrlKey || event.metaKey) && submit(event)
            }
          />
          <Button
            type="submit"
            look="primary"
            isBusy={run.isPending}
            disabled={error !== undefined}
          >
            {texts.runTool}
          </Button>
        </form>
      </Section>
      <div aria-live="polite" className="space-y-3">
        {run.isError && <RunFailure error={run.error} />}
        {run.data && !run.isPending && <RunResult run={run.data} />}
      </div>
      {isAsking && (
        <Confirm
          title={texts.runTool}
          question={texts.runQuestion(tool.name)}
          action={texts.runTool}
          name={tool.name}
          run={{ ...run, mutate: () => run.mutate(undefined, { onSettled: () => ask(false) }) }}
          onClose={() => ask(false)}
        />
      )}
    </div>
  );
}

function RunResult({ run: { agent, result, logs, durationMs } }: { run: Run }) {
  const common = useTexts();
  const texts = useTexts(toolsCatalog);
  return (
    <>
      <p className="text-done">
        {texts.took(formatDuration(durationMs, common))}{' '}
        {texts.ranAs(agent?.name ?? texts.ofSystem)}
      </p>
      <Logs logs={logs} label={texts.logs} />
      <Json value={result} label={texts.result} />
    </>
  );
}

/** What the tool or the check before it said, and which rule decided. */
function RunFailure({ error }: { error: unknown }) {
  const texts = useTexts(toolsCatalog);
  const api = error instanceof ParleyApiError ? error : null;
  const { reason, logs } = (api?.body ?? {}) as {
    reason?: unknown;
    logs?: { level: string; message: string }[];
  };
  return (
    <div role="alert" className="space-y-2">
      <Notice kind="failed">
        <span className="font-medium">{texts.notRun}</span>
        {api?.code && <code className="font-mono text-xs">{api.code}</code>}
        <span>{(error as Error).message}</span>
      </Notice>
      {typeof reason === 'string' && (
        <p>
          {texts.reason}: {reason}
        </p>
      )}
      <Logs logs={Array.isArray(logs) ? logs : []} label={texts.logs} />
      {api?.requestId && (
        <CopyText text={api.requestId}>
          <span className="text-xs text-n11">{texts.requestId(api.requestId)}</span>
        </CopyText>
      )}
    </div>
  );
}
