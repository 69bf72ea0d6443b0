import type { JsonObject } from '@parley/client';
import { useQuery } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button, Toggle } from '../../parts/controls';
import { Section } from '../../parts/section';
import { Failure, Skeleton } from '../../parts/states';
import { shownValue } from '../build/definitions';
import { PromptText } from '../build/prompt';
import { markValues, splitTemplate } from '../build/prompt-parts';
import { useExecution } from '../executions/trace';
import { playgroundCatalog } from './texts';

interface CompiledPrompt {
  raw: string;
  compiled: string;
  context: JsonObject;
}

interface PromptPanelProps {
  agentSlug: string;
  message: string;
  params: JsonObject;
  executionId: string | undefined;
}

/**
 * The prompt of the agent with the values of this conversation; for those who may not compile
 * it, as it was sent.
 */
export function PromptPanel(props: PromptPanelProps) {
  const { environment, isAdmin } = useWorkspace();
  if (environment === 'development' || isAdmin) return <Compiled {...props} />;
  return <Sent executionId={props.executionId} />;
}

function Compiled({ agentSlug, message, params }: PromptPanelProps) {
  const texts = useTexts(playgroundCatalog);
  const { client, key } = useWorkspace();
  const [isTemplate, showTemplate] = useState(false);
  const { data, error, isPending, isFetching, refetch } = useQuery({
    queryKey: [...key, 'compiled-prompt', agentSlug, message, params],
    queryFn: ({ signal }) =>
      client.request<CompiledPrompt>({
        method: 'POST',
        path: ['compile-prompt'],
        signal,
        body: { slug: agentSlug, message, channel: 'dashboard', threadMetadata: { params } },
      }),
    // The prompt may call tools, so it is compiled when a person asks for it.
    staleTime: Infinity,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (isPending) return <Skeleton rows={8} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  const values = Object.entries(data.context);
  return (
    <div className="space-y-4 p-4">
      <div className="flex flex-wrap items-center gap-2">
        <Toggle label={texts.compiled} isOn={!isTemplate} onChange={() => showTemplate(false)} />
        <Toggle label={texts.template} isOn={isTemplate} onChange={() => showTemplate(true)} />
        <Button look="quiet" icon={RotateCw} isBusy={isFetching} onClick={() => void refetch()}>
          {texts.compileAgain}
        </Button>
      </div>
      <p className="text-n11">{texts.compileHint}</p>
      <PromptText
        label={texts.prompt}
        parts={isTemplate ? splitTemplate(data.raw) : markValues(data.raw, data.compiled)}
      />
      <Section title={texts.values}>
        {values.length === 0 ? (
          <p className="text-n11">{texts.noValues}</p>
        ) : (
          <dl className="divide-y divide-n4 border-y border-n4">
            {values.map(([name, value]) => (
              <div key={name} className="py-1.5">
                <dt className="text-n11">{name}</dt>
                <dd className="max-h-40 overflow-auto font-mono text-xs whitespace-pre-wrap">
                  {shownValue(value) || texts.notSet}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </Section>
    </div>
  );
}

function Sent({ executionId }: { executionId: string | undefined }) {
  const texts = useTexts(playgroundCatalog);
  if (executionId === undefined) return <p className="p-4 text-n11">{texts.noTurn}</p>;
  return <SentPrompt executionId={executionId} />;
}

function SentPrompt({ executionId }: { executionId: string }) {
  const texts = useTexts(playgroundCatalog);
  const { data, error, isPending, refetch } = useExecution(executionId);
  if (isPending) return <Skeleton rows={8} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  if (data.prompt === null) return <p className="p-4 text-n11">{texts.noPrompt}</p>;
  return (
    <div className="space-y-4 p-4">
      <p className="text-n11">{texts.asSent}</p>
      <PromptText label={texts.prompt} parts={[{ text: data.prompt.text, name: null }]} />
    </div>
  );
}
