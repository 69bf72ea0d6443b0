import { iterate } from '@parley/client/manage';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { RetryAll, RetryProgress } from '../triggers/bulk-runs';
import { triggersCatalog } from '../triggers/texts';
import { homeCatalog } from './texts';

const maxRead = 1_000;
const maxButtons = 5;

/** Retries the dead runs, trigger by trigger. */
export function RetryDeadRuns() {
  const home = useTexts(homeCatalog);
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const [started, setStarted] = useState<readonly string[]>([]);
  const { data = [] } = useQuery({
    queryKey: [...key, 'trigger-runs', 'dead-by-trigger'],
    queryFn: async ({ signal }) => {
      const counts = new Map<string, number>();
      let read = 0;
      for await (const { triggerSlug, refusedRuns } of iterate(
        api.listTriggerRuns,
        { status: 'dead', limit: 100 },
        { signal },
      )) {
        if (refusedRuns === 0) counts.set(triggerSlug, (counts.get(triggerSlug) ?? 0) + 1);
        if (++read === maxRead) break;
      }
      const isCapped = read === maxRead;
      return [...counts].map(([slug, count]) => ({
        slug,
        count: formatNumber(count) + (isCapped ? '+' : ''),
      }));
    },
    refetchInterval: 15_000,
  });
  return (
    <>
      {data.slice(0, maxButtons).map(({ slug, count }) => (
        <RetryAll
          key={slug}
          slug={slug}
          count={count}
          text={`${triggers.retryAll(count)} ${home.ofTrigger(slug)}`}
          onStart={() => setStarted((before) => [...new Set([...before, slug])])}
        />
      ))}
      {started.map((slug) => (
        <div key={slug} className="order-last w-full empty:hidden">
          <RetryProgress slug={slug} />
        </div>
      ))}
    </>
  );
}
