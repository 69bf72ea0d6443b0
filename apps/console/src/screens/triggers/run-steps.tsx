import { formatDuration, useTexts } from '../../i18n';
import { Json } from '../../parts/json';
import { Section } from '../../parts/section';
import { Notice } from '../../parts/states';
import { Status } from '../../parts/status';
import type { RunStep, RunStatus } from './queries';
import { triggersCatalog } from './texts';

/** The calls of a run, attempt by attempt. A failed one is open. */
export function RunSteps({
  run: { steps, status, attempts },
}: {
  run: { steps: RunStep[]; status: RunStatus; attempts: number };
}) {
  const triggers = useTexts(triggersCatalog);
  if (steps.length === 0)
    return (
      <p className="text-n11">
        {status === 'scheduled' && attempts === 0 ? triggers.waits : triggers.noSteps}
      </p>
    );
  return (
    <Section title={triggers.steps}>
      <ol className="space-y-2">
        {steps.map((step, index) => (
          <li key={index}>
            {attempts > 1 && steps[index - 1]?.attempt !== step.attempt && (
              <h3 className="mb-1 text-xs text-n11">{triggers.attempt(step.attempt)}</h3>
            )}
            <Step step={step} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

function Step({ step }: { step: RunStep }) {
  const texts = useTexts();
  const triggers = useTexts(triggersCatalog);
  const isFailed = step.status === 'error';
  return (
    <details open={isFailed} className="rounded border border-n6">
      <summary className="tap flex flex-wrap items-center gap-x-3 rounded px-3 py-1.5 hover:bg-n2">
        <Status
          status={isFailed ? 'failed' : 'succeeded'}
          text={triggers.stepStatuses[step.status]}
        />
        <code className="font-mono">{step.tool}</code>
        {step.as && <span className="text-n11">{triggers.resultName(step.as)}</span>}
        <span className="ml-auto text-n11 tabular-nums">
          {formatDuration(step.durationMs, texts)}
        </span>
      </summary>
      <div className="space-y-3 border-t border-n5 p-3">
        {step.error !== undefined && (
          <Notice kind="failed">
            {step.errorType && <code className="font-mono text-xs">{step.errorType}</code>}
            {step.error}
          </Notice>
        )}
        {step.args !== undefined && <Json value={step.args} label={triggers.arguments} />}
        {step.result !== undefined && <Json value={step.result} label={triggers.result} />}
      </div>
    </details>
  );
}
