import { formatDuration, formatNumber, useTexts } from '../../i18n';
import { Facts } from '../../parts/detail-screen';
import { Json, Logs } from '../../parts/json';
import { Notice } from '../../parts/states';
import { type Step, nameOfStep } from './trace';
import { executionsCatalog } from './texts';

/** One step of a turn: what went in, what came out, and why it was allowed. */
export function StepDetails({ step }: { step: Step }) {
  const executions = useTexts(executionsCatalog);
  return (
    <section
      aria-label={nameOfStep(step)}
      className="min-w-0 space-y-4 rounded border border-n5 p-3 lg:sticky lg:top-4"
    >
      <h2 className="font-mono font-medium">{nameOfStep(step)}</h2>
      {step.status === 'unknown' && <Notice>{executions.unknown}</Notice>}
      {step.type === 'model' ? <ModelCall step={step} /> : <ToolCall step={step} />}
    </section>
  );
}

function ModelCall({ step }: { step: Extract<Step, { type: 'model' }> }) {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { units } = texts;
  return (
    <>
      {step.error && <Notice kind="failed">{step.error}</Notice>}
      <Facts
        facts={[
          [executions.duration, formatDuration(step.durationMs, texts)],
          [
            executions.tokens,
            <>
              {units.tokens(formatNumber(step.inputTokens), formatNumber(step.outputTokens))}
              {step.reasoningTokens
                ? ` · ${executions.reasoning(formatNumber(step.reasoningTokens))}`
                : ''}
            </>,
          ],
          [executions.end, step.finishReason && executions.finishReasons[step.finishReason]],
          [executions.model, step.purpose === 'routing' && executions.routing],
        ]}
      />
    </>
  );
}

function ToolCall({ step }: { step: Extract<Step, { type: 'tool' }> }) {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { permission, logs } = step;
  return (
    <>
      {step.errorMessage && (
        <Notice kind="failed">
          {step.errorType && <code className="font-mono text-xs">{step.errorType}</code>}
          <span>{step.errorMessage}</span>
        </Notice>
      )}
      <Facts
        facts={[
          [
            executions.duration,
            step.durationMs === null ? executions.running : formatDuration(step.durationMs, texts),
          ],
          [
            executions.permission,
            permission && (
              <>
                <span className={permission.allowed ? 'text-done' : 'text-failed'}>
                  {permission.allowed ? executions.allowed : executions.denied}
                </span>
                {': '}
                {permission.reason}
                {permission.policies.map(({ role, policy }) => (
                  <span key={role + policy} className="block text-n11">
                    {executions.policy(role, policy)}
                  </span>
                ))}
              </>
            ),
          ],
        ]}
      />
      <Json value={step.argumentsStart ?? step.arguments} label={executions.arguments} />
      {step.resultStart !== null && step.resultStart !== undefined ? (
        <Json value={step.resultStart} label={executions.resultStart} />
      ) : (
        step.result !== null && <Json value={step.result} label={executions.result} />
      )}
      <Logs logs={logs} label={executions.logs} />
    </>
  );
}
