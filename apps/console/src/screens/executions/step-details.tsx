import type { ReactNode } from 'react';
import { formatDuration, formatNumber, useTexts } from '../../i18n';
import { Json } from '../../parts/json';
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

function Facts({ children }: { children: ReactNode }) {
  return <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">{children}</dl>;
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-n11">{name}</dt>
      <dd className="tabular-nums">{children}</dd>
    </>
  );
}

function ModelCall({ step }: { step: Extract<Step, { type: 'model' }> }) {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { units } = texts;
  return (
    <>
      {step.error && <Notice kind="failed">{step.error}</Notice>}
      <Facts>
        <Fact name={executions.duration}>{formatDuration(step.durationMs, texts)}</Fact>
        <Fact name={executions.tokensLabel}>
          {units.tokens(formatNumber(step.inputTokens), formatNumber(step.outputTokens))}
          {step.reasoningTokens ? ` · ${executions.reasoning(formatNumber(step.reasoningTokens))}` : ''}
        </Fact>
        {step.purpose === 'routing' && <Fact name={executions.model}>{executions.routing}</Fact>}
      </Facts>
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
      <Facts>
        <Fact name={executions.duration}>
          {step.durationMs === null ? executions.running : formatDuration(step.durationMs, texts)}
        </Fact>
        {permission && (
          <Fact name={executions.permission}>
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
          </Fact>
        )}
      </Facts>
      <Json value={step.arguments} label={executions.arguments} />
      {step.resultStart !== null && step.resultStart !== undefined ? (
        <Json value={step.resultStart} label={executions.resultStart} />
      ) : (
        step.result !== null && <Json value={step.result} label={executions.result} />
      )}
      {logs !== undefined && logs.length > 0 && (
        <Json value={logs.map(({ level, message }) => `${level}: ${message}`).join('\n')} label={executions.logs} />
      )}
    </>
  );
}
