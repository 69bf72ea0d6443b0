import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { useKeys } from '../../frame/keys';
import { useWorkspace } from '../../frame/workspace';
import { formatDuration, formatNumber, useTexts } from '../../i18n';
import { Button, CopyText } from '../../parts/controls';
import { DetailScreen } from '../../parts/detail-screen';
import { Json } from '../../parts/json';
import { TextLink, linkTo } from '../../parts/link';
import { Section } from '../../parts/section';
import { Failure, Notice, Problem, Skeleton } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import { Names } from '../build/sections';
import { StepDetails } from './step-details';
import { Timeline } from './timeline';
import { type ExecutionTrace, hasEnded, useExecution } from './trace';
import { executionsCatalog } from './texts';
import { conversationsCatalog } from '../conversations/texts';

const route = getRouteApi('/$organization/$environment/executions/$executionId');

const tabs = ['steps', 'prompt', 'messages', 'raw'] as const;
export function Execution() {
  const { executionId } = route.useParams();
  const { data: execution, error, isPending, refetch } = useExecution(executionId);
  if (isPending) return <Skeleton rows={10} />;
  if (execution === undefined) return <Failure error={error} onRetry={refetch} />;
  return <Trace execution={execution} />;
}

function Trace({ execution }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  const { tab = 'steps' } = route.useSearch();
  return (
    <DetailScreen
      title={execution.agentSlug ?? executions.title}
      back={linkTo({ to: 'executions' })}
      backTitle={executions.title}
      head={
        <>
          <Status status={execution.status} text={executions.statuses[execution.status]} />
          <Summary execution={execution} />
        </>
      }
      actions={
        <>
          <CancelButton execution={execution} />
          <CopyText text={location.href}>
            <span className="px-1 text-n11">{executions.copyLink}</span>
          </CopyText>
        </>
      }
    >
      <ViewTabs
        label={executions.title}
        views={tabs.map((name) => [
          executions.tabs[name],
          linkTo({
            to: 'executions/$executionId',
            params: { executionId: execution.id },
            search: (before) => ({ ...before, tab: name === 'steps' ? undefined : name }),
          }),
          tab === name,
        ])}
      />
      {execution.error !== null && (
        <div className="p-4 pb-0">
          <Notice kind="failed">{execution.error}</Notice>
        </div>
      )}
      {tab === 'steps' && <Steps execution={execution} />}
      {tab === 'prompt' && <Prompt execution={execution} />}
      {tab === 'messages' && <Messages execution={execution} />}
      {tab === 'raw' && (
        <div className="p-4">
          <Json value={execution} label={executions.tabs.raw} />
        </div>
      )}
    </DetailScreen>
  );
}

function Summary({ execution }: { execution: ExecutionTrace }) {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { units } = texts;
  const { finishReason } = execution;
  const facts = [
    formatDuration(execution.durationMs, texts),
    units.modelCalls(execution.modelCallCount),
    units.tools(execution.toolCallCount),
    units.tokens(formatNumber(execution.inputTokens), formatNumber(execution.outputTokens)),
    ...(execution.agentRevision === null ? [] : [executions.revision(execution.agentRevision)]),
    ...(isComplete(finishReason) ? [] : [executions.finishReasons[finishReason]]),
  ];
  return (
    <p className="flex flex-wrap items-center gap-x-2 text-n11 tabular-nums">
      <span>{facts.join(' · ')}</span>
      <Ago at={execution.createdAt} />
      <TextLink to="conversations/$threadId" params={{ threadId: execution.threadId }}>
        {executions.thread}
      </TextLink>
    </p>
  );
}

type FinishReason = ExecutionTrace['finishReason'];

const isComplete = (reason: FinishReason): reason is 'stop' | 'tool_calls' | null =>
  reason === null || reason === 'stop' || reason === 'tool_calls';

function CancelButton({ execution }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  const { api } = useWorkspace();
  const cancel = useChange(() => api.cancelExecution({ id: execution.id }), 'execution');
  if (hasEnded(execution)) return null;
  return (
    <>
      <Problem error={cancel.error} />
      <Button isBusy={cancel.isPending} onClick={() => cancel.mutate()}>
        {executions.cancel}
      </Button>
    </>
  );
}

function Steps({ execution }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  const { step: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const { steps } = execution;
  // The step that explains a failure is shown first.
  const failedAt = steps.findIndex(({ status }) => status === 'error');
  const at = Math.min(chosen ?? Math.max(failedAt, 0), steps.length - 1);
  const choose = (step: number) =>
    void navigate({ search: (before) => ({ ...before, step }), replace: true });
  useKeys({
    j: () => choose(Math.min(at + 1, steps.length - 1)),
    k: () => choose(Math.max(at - 1, 0)),
  });
  return (
    <div className="grid items-start gap-4 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,26rem)]">
      <div className="min-w-0 space-y-4">
        <Said label={executions.input} text={execution.input} />
        {steps.length === 0 ? (
          <p className="text-n11">{executions.noSteps}</p>
        ) : (
          <Timeline execution={execution} at={at} onChoose={choose} />
        )}
        <Said label={executions.reply} text={execution.reply ?? executions.noReply} />
        <Deliveries execution={execution} />
      </div>
      {steps[at] && <StepDetails key={at} step={steps[at]} />}
    </div>
  );
}

function Said({ label, text }: { label: string; text: string }) {
  const [isLong, setLong] = useState(text.length > 600);
  return (
    <Section title={label}>
      <p className="text-base whitespace-pre-wrap">{isLong ? `${text.slice(0, 600)}…` : text}</p>
      {isLong && (
        <Button look="quiet" onClick={() => setLong(false)}>
          +{formatNumber(text.length - 600)}
        </Button>
      )}
    </Section>
  );
}

function Deliveries({ execution }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  const conversations = useTexts(conversationsCatalog);
  if (execution.deliveries.length === 0) return null;
  return (
    <Section title={executions.deliveries}>
      <ul className="space-y-1">
        {execution.deliveries.map(({ messageId, status, error, createdAt }) => (
          <li key={messageId} className="flex flex-wrap gap-x-2">
            <span>{conversations.delivery[status] ?? status}</span>
            <Ago at={createdAt} className="text-n11" />
            {error && <span className="text-failed">{error}</span>}
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Prompt({ execution: { prompt } }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  if (prompt === null) return <p className="p-4 text-n11">{executions.noPrompt}</p>;
  const size = `${formatNumber(Math.ceil(prompt.bytes / 1024))} KiB`;
  return (
    <div className="space-y-4 p-4">
      <p className="text-n11">
        {executions.promptOf(size)} {prompt.isTruncated && executions.promptCut}
      </p>
      <Json value={prompt.text} label={executions.tabs.prompt} />
      <Section title={executions.offered}>
        <Names names={prompt.tools} />
      </Section>
    </div>
  );
}

function Messages({ execution }: { execution: ExecutionTrace }) {
  return (
    <ol className="space-y-3 p-4">
      {execution.messages.map(({ id, role, content, toolCallIds, createdAt }) => (
        <li key={id}>
          <p className="text-xs text-n10">
            {role} · <Ago at={createdAt} />
          </p>
          <p className="text-base whitespace-pre-wrap">{content || toolCallIds.join(', ')}</p>
        </li>
      ))}
    </ol>
  );
}
