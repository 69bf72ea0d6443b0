import { Bot } from 'lucide-react';
import { formatDuration, formatNumber, useTexts } from '../../i18n';
import { TextLink } from '../../parts/link';
import { Failure, Skeleton } from '../../parts/states';
import { Status } from '../../parts/status';
import { StepDetails } from '../executions/step-details';
import { executionsCatalog } from '../executions/texts';
import { Timeline } from '../executions/timeline';
import { type ExecutionTrace, hasEnded, useExecution } from '../executions/trace';
import { playgroundCatalog } from './texts';

/** The step to look at: the one that runs; then the one that failed, or the last tool. */
function stepOf({ steps, status: ofTurn }: ExecutionTrace): number {
  if (!hasEnded({ status: ofTurn })) return steps.length - 1;
  const failed = steps.findIndex(({ status }) => status === 'error');
  if (failed !== -1) return failed;
  const tool = steps.findLastIndex(({ type }) => type === 'tool');
  return tool !== -1 ? tool : steps.length - 1;
}

/** Each model and tool call of a turn, as it happens. */
export function Steps({
  executionId,
  step,
  onStep,
}: {
  executionId: string;
  step: number | undefined;
  onStep: (step: number) => void;
}) {
  const texts = useTexts(playgroundCatalog);
  const { data, error, isPending, refetch } = useExecution(executionId);
  if (isPending) return <Skeleton rows={4} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  const at = Math.min(step ?? stepOf(data), data.steps.length - 1);
  return (
    <div className="space-y-4 p-4">
      <Summary execution={data} />
      {data.steps.length === 0 ? (
        hasEnded(data) && <p className="text-n11">{texts.noStep}</p>
      ) : (
        <Timeline execution={data} at={at} onChoose={onStep} />
      )}
      {!hasEnded(data) && data.steps.every(({ durationMs }) => durationMs !== null) && (
        <RunningModel execution={data} />
      )}
      {data.steps[at] && <StepDetails key={at} step={data.steps[at]} />}
    </div>
  );
}

function Summary({ execution }: { execution: ExecutionTrace }) {
  const common = useTexts();
  const texts = useTexts(playgroundCatalog);
  const executions = useTexts(executionsCatalog);
  const { units } = common;
  return (
    <div className="flex flex-wrap items-center gap-x-2 gap-y-1 text-n11 tabular-nums">
      <Status status={execution.status} text={executions.statuses[execution.status]} />
      <span>
        {[
          execution.durationMs !== null && formatDuration(execution.durationMs, common),
          units.modelCalls(execution.modelCallCount),
          units.tools(execution.toolCallCount),
          units.tokens(formatNumber(execution.inputTokens), formatNumber(execution.outputTokens)),
        ]
          .filter(Boolean)
          .join(' · ')}
      </span>
      <TextLink to="executions/$executionId" params={{ executionId: execution.id }}>
        {texts.openExecution}
      </TextLink>
    </div>
  );
}

/** A call of the model is a step once it has ended. */
function RunningModel({ execution: { steps, model, status } }: { execution: ExecutionTrace }) {
  const executions = useTexts(executionsCatalog);
  const asked = steps.findLast((step) => step.type === 'model')?.model ?? model ?? executions.model;
  if (status === 'queued') return null;
  return (
    <p className="-mt-4 flex h-9 items-center gap-1.5 border-b border-n5 px-2" role="status">
      <Bot aria-hidden size={14} className="shrink-0 text-n10" />
      <span className="min-w-0 flex-1 truncate">{asked}</span>
      <span className="text-accent">{executions.running}</span>
    </p>
  );
}
