import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Confirm } from '../../parts/confirm';
import { Button } from '../../parts/controls';
import { Progress } from '../../parts/progress';
import { type Trigger, useDeadRuns, useRetried } from './queries';
import { triggersCatalog } from './texts';

/** Retries all dead runs of a trigger, or cancels all that wait. */
export function BulkActions({ trigger: { slug, runs } }: { trigger: Trigger }) {
  const triggers = useTexts(triggersCatalog);
  const { data: dead } = useDeadRuns(slug);
  const [asked, setAsked] = useState<'retry' | 'cancel' | null>(null);
  const scheduled = runs.scheduled ?? 0;
  const deadCount = dead === undefined ? '' : formatNumber(dead.count) + (dead.isCapped ? '+' : '');
  return (
    <>
      {scheduled > 0 && (
        <Button onClick={() => setAsked('cancel')}>{triggers.cancelAll(formatNumber(scheduled))}</Button>
      )}
      {dead !== undefined && dead.count > 0 && (
        <Button look="primary" onClick={() => setAsked('retry')}>
          {triggers.retryAll(deadCount)}
        </Button>
      )}
      {asked === 'retry' && <RetryAll slug={slug} count={deadCount} onClose={() => setAsked(null)} />}
      {asked === 'cancel' && <CancelAll slug={slug} count={formatNumber(scheduled)} onClose={() => setAsked(null)} />}
    </>
  );
}

interface AskProps {
  slug: string;
  /** How many runs, as people read it. */
  count: string;
  onClose: () => void;
}

/** Asks, and retries the dead runs of a trigger. Its progress is shown on the trigger's screen. */
export function RetryAll({ slug, count, onClose }: AskProps) {
  const triggers = useTexts(triggersCatalog);
  const { api } = useWorkspace();
  const { remember } = useRetried(slug);
  const retry = useChange(() => api.retryTriggerRuns({ trigger: slug }), 'triggers', 'trigger-runs', 'health');
  const run = () => retry.mutate(undefined, { onSuccess: ({ runs }) => (remember(runs), onClose()) });
  return (
    <Confirm
      title={triggers.retryAllTitle}
      question={triggers.retryAllQuestion(count, slug)}
      action={triggers.retryAll(count)}
      look="primary"
      run={{ ...retry, mutate: run }}
      onClose={onClose}
    />
  );
}

function CancelAll({ slug, count, onClose }: AskProps) {
  const triggers = useTexts(triggersCatalog);
  const { api } = useWorkspace();
  const cancel = useChange(() => api.cancelTriggerRuns({ trigger: slug }), 'triggers', 'trigger-runs');
  return (
    <Confirm
      title={triggers.cancelAllTitle}
      question={triggers.cancelAllQuestion(count, slug)}
      action={triggers.cancelAll(count)}
      name={slug}
      run={{ ...cancel, mutate: () => cancel.mutate(undefined, { onSuccess: onClose }) }}
      onClose={onClose}
    />
  );
}

/** How many of the retried runs of a trigger have ended. */
export function RetryProgress({ slug }: { slug: string }) {
  const triggers = useTexts(triggersCatalog);
  const { key } = useWorkspace();
  const cache = useQueryClient();
  const { ids, progress, remember } = useRetried(slug);
  const hasEnded = progress?.open === 0;
  useEffect(() => {
    if (!hasEnded) return;
    for (const name of ['trigger-runs', 'triggers', 'health'])
      void cache.invalidateQueries({ queryKey: [...key, name] });
  }, [hasEnded, cache, key]);
  if (ids === null) return null;
  const open = progress?.open ?? ids.length;
  return (
    <Progress done={ids.length - open} all={ids.length} onClose={() => remember(null)}>
      {open > 0 ? triggers.retrying(ids.length - open, ids.length) : triggers.retried(ids.length)}
      {progress !== undefined && progress.dead > 0 && (
        <span className="text-failed"> · {triggers.failedAgain(progress.dead)}</span>
      )}
    </Progress>
  );
}
