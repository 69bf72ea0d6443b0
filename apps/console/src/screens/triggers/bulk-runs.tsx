import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { Progress } from '../../parts/progress';
import { type Trigger, retriedKey, useDeadRuns, useRetried } from './queries';
import { triggersCatalog } from './texts';

/** Retries all dead runs of a trigger, or cancels all that wait. */
export function BulkActions({ trigger: { slug, runs } }: { trigger: Trigger }) {
  const { data: dead } = useDeadRuns(slug);
  const scheduled = runs.scheduled ?? 0;
  return (
    <>
      {scheduled > 0 && <CancelAll slug={slug} count={formatNumber(scheduled)} />}
      {dead !== undefined && dead.count > 0 && (
        <RetryAll
          slug={slug}
          count={formatNumber(dead.count) + (dead.isCapped ? '+' : '')}
          buttonLook="primary"
        />
      )}
    </>
  );
}

interface BulkProps {
  slug: string;
  /** How many runs, as people read it. */
  count: string;
}

interface RetryAllProps extends BulkProps {
  buttonLook?: 'primary' | 'plain';
  /** Text of the button. Default: what it does. */
  text?: string;
  onStart?: () => void;
}

/** Asks, and retries the dead runs of a trigger. Its progress is shown on the trigger's screen. */
export function RetryAll({ slug, count, buttonLook = 'plain', text, onStart }: RetryAllProps) {
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const cache = useQueryClient();
  const retry = useChange(
    async () => {
      // A list that has been loaded again may not show the button.
      const { runs } = await api.retryTriggerRuns({ trigger: slug });
      cache.setQueryData(retriedKey(key, slug), runs);
      onStart?.();
    },
    ...['triggers', 'trigger-runs', 'health'],
  );
  return (
    <ConfirmButton
      text={text}
      buttonLook={buttonLook}
      title={triggers.retryAllTitle}
      question={triggers.retryAllQuestion(count, slug)}
      action={triggers.retryAll(count)}
      look="primary"
      change={retry}
    />
  );
}

function CancelAll({ slug, count }: BulkProps) {
  const triggers = useTexts(triggersCatalog);
  const { api } = useWorkspace();
  const cancel = useChange(
    () => api.cancelTriggerRuns({ trigger: slug }),
    'triggers',
    'trigger-runs',
  );
  return (
    <ConfirmButton
      title={triggers.cancelAllTitle}
      question={triggers.cancelAllQuestion(count, slug)}
      action={triggers.cancelAll(count)}
      name={slug}
      buttonLook="plain"
      change={cancel}
    />
  );
}

/** How many of the retried runs of a trigger have ended. */
export function RetryProgress({ slug }: { slug: string }) {
  const triggers = useTexts(triggersCatalog);
  const { key } = useWorkspace();
  const cache = useQueryClient();
  const { ids, progress, forget } = useRetried(slug);
  const hasEnded = progress?.open === 0;
  useEffect(() => {
    if (!hasEnded) return;
    for (const name of ['trigger-runs', 'triggers', 'health'])
      void cache.invalidateQueries({ queryKey: [...key, name] });
  }, [hasEnded, cache, key]);
  if (ids === null) return null;
  const open = progress?.open ?? ids.length;
  return (
    <Progress done={ids.length - open} all={ids.length} onClose={forget}>
      {open > 0 ? triggers.retrying(ids.length - open, ids.length) : triggers.retried(ids.length)}
      {progress !== undefined && progress.dead > 0 && (
        <span className="text-failed"> · {triggers.failedAgain(progress.dead)}</span>
      )}
    </Progress>
  );
}
