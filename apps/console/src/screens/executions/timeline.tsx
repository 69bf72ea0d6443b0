import { Bot, Split, Wrench } from 'lucide-react';
import { formatDuration, useTexts } from '../../i18n';
import { type ExecutionTrace, type Step, nameOfStep } from './trace';
import { executionsCatalog } from './texts';

interface Span {
  step: Step;
  fromMs: number;
  ms: number;
}

/**
 * Tools have their time of start. A model call ends when the next step begins, so it is placed
 * before that step.
 */
function spansOf({ steps, startedAt, createdAt }: ExecutionTrace): {
  spans: Span[];
  totalMs: number;
} {
  const origin = startedAt ?? createdAt;
  let lastEndMs = 0;
  const spans = steps.map((step) => {
    const ms = step.durationMs ?? 0;
    const fromMs = step.type === 'tool' ? Math.max(0, step.startedAt - origin) : lastEndMs;
    lastEndMs = Math.max(lastEndMs, fromMs + ms);
    return { step, fromMs, ms };
  });
  return { spans, totalMs: Math.max(1, lastEndMs) };
}

const isDenied = (step: Step): boolean =>
  step.type === 'tool' && step.permission?.allowed === false;

/** The steps of a turn as bars over its time; each is a button that shows the step. */
export function Timeline({
  execution,
  at,
  onChoose,
}: {
  execution: ExecutionTrace;
  at: number;
  onChoose: (step: number) => void;
}) {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { spans, totalMs } = spansOf(execution);
  return (
    <ol aria-label={executions.timeline} className="border-t border-n5">
      {spans.map(({ step, fromMs, ms }, index) => {
        const Icon = step.type === 'tool' ? Wrench : step.purpose === 'routing' ? Split : Bot;
        const isFailed = step.status === 'error';
        const colour = isFailed ? 'bg-failed' : step.status === 'success' ? 'bg-n8' : 'bg-waiting';
        return (
          <li key={index} className={`border-b border-n5 ${step.type === 'tool' ? 'pl-4' : ''}`}>
            <button
              type="button"
              aria-current={index === at || undefined}
              onClick={() => onChoose(index)}
              className={`tap grid h-9 w-full grid-cols-[minmax(0,1fr)_4.5rem] items-center gap-2 px-2 text-left sm:grid-cols-[12rem_minmax(0,1fr)_4.5rem] ${index === at ? 'bg-n3' : 'hover:bg-n2'}`}
            >
              <span className="flex min-w-0 items-center gap-1.5">
                <Icon aria-hidden size={14} className="shrink-0 text-n10" />
                <span className="truncate">{nameOfStep(step)}</span>
                {isFailed && (
                  <span className="shrink-0 text-failed">
                    ✕ {isDenied(step) ? executions.denied : ''}
                  </span>
                )}
              </span>
              <span className="relative h-3 max-sm:hidden">
                <span
                  className={`absolute inset-y-0 min-w-[2px] rounded-[2px] ${colour}`}
                  style={{
                    left: `${(fromMs / totalMs) * 100}%`,
                    width: `${Math.min(100 - (fromMs / totalMs) * 100, (ms / totalMs) * 100)}%`,
                  }}
                />
              </span>
              <span className="text-right text-n11 tabular-nums">
                {step.durationMs === null ? executions.running : formatDuration(ms, texts)}
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
