import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { formatDuration, useTexts } from '../../i18n';
import { TextLink } from '../../parts/link';
import { Failure, Skeleton } from '../../parts/states';
import { nameOfStep, useExecution } from '../executions/trace';
import { conversationsCatalog } from './texts';

/** What the agent did for a message, folded. */
export function Steps({ executionId, toolCalls }: { executionId: string; toolCalls: number }) {
  const conversations = useTexts(conversationsCatalog);
  const { units } = useTexts();
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="text-right text-xs text-n11">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        title={conversations.showSteps}
        className="inline-flex min-h-6 items-center gap-1 rounded px-1 hover:bg-n3 [@media(pointer:coarse)]:min-h-11"
      >
        <ChevronRight aria-hidden size={12} className={isOpen ? 'rotate-90' : ''} />
        {conversations.agent}
        {toolCalls > 0 && ` · ${units.tools(toolCalls)}`}
      </button>
      {isOpen && <OpenSteps executionId={executionId} />}
    </div>
  );
}

function OpenSteps({ executionId }: { executionId: string }) {
  const texts = useTexts();
  const conversations = useTexts(conversationsCatalog);
  const { data, error, isPending } = useExecution(executionId);
  if (isPending) return <Skeleton rows={2} />;
  if (data === undefined) return <Failure error={error} />;
  return (
    <div className="ml-auto w-fit max-w-full rounded border border-n5 p-2 text-left">
      <ul>
        {data.steps.map((step, at) => (
          <li key={at} className="flex gap-3">
            <span
              className={`min-w-0 flex-1 truncate ${step.status === 'error' ? 'text-failed' : ''}`}
            >
              {nameOfStep(step)}
            </span>
            <span className="tabular-nums">{formatDuration(step.durationMs, texts)}</span>
          </li>
        ))}
      </ul>
      <TextLink
        to="executions/$executionId"
        params={{ executionId }}
        className="tap inline-flex items-center"
      >
        {conversations.openExecution}
      </TextLink>
    </div>
  );
}
