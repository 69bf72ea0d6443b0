import { useQuery } from '@tanstack/react-query';
import { CheckCircle2, TriangleAlert } from 'lucide-react';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { type Problem, Remedy } from './remedy';
import { homeCatalog } from './texts';

/** What is dead, waiting or refused, where it is shown, and what fixes it. */
export function Health() {
  const home = useTexts(homeCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'health'],
    queryFn: ({ signal }) => api.getHealthReport({}, { signal }),
    refetchInterval: 15_000,
  });
  if (isPending) return <Skeleton rows={2} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  const Icon = data.isHealthy ? CheckCircle2 : TriangleAlert;
  return (
    <section aria-label={home.title} className="max-w-5xl space-y-3">
      <p className="flex flex-wrap items-center gap-2 text-lg font-medium">
        <Icon aria-hidden size={20} className={data.isHealthy ? 'text-done' : 'text-failed'} />
        {data.isHealthy ? home.healthy : home.problems(data.problems.length)}
        <Ago at={data.checkedAt} className="text-sm font-normal text-n10" />
      </p>
      {data.problems.length > 0 && (
        <ul className="divide-y divide-n5 rounded border border-n6">
          {data.problems.map((problem) => (
            <li key={problem.kind} className="space-y-2 px-3 py-2.5">
              <ProblemLines problem={problem} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function ProblemLines({ problem }: { problem: Problem }) {
  const home = useTexts(homeCatalog);
  const { kind, count, isCapped, state, oldestAt, names, command } = problem;
  return (
    <>
      <div>
        <p className="flex flex-wrap items-baseline gap-x-2 font-medium">
          {home.problem[kind]}
          <span className={`tabular-nums ${state === 'waiting' ? 'text-waiting' : 'text-failed'}`}>
            {formatNumber(count)}
            {isCapped && '+'}
          </span>
          {oldestAt !== null && <Ago at={oldestAt} className="font-normal text-n10" />}
        </p>
        <p className="text-n11">
          {home.advice[kind]}
          {names.length > 0 && ` (${names.join(', ')})`}
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <Remedy problem={problem} />
        {command && (
          <p className="ml-auto text-xs">
            <span className="sr-only">{home.command}: </span>
            <CopyText text={`npx ${command}`}>
              <code className="font-mono text-xs text-n11">npx {command}</code>
            </CopyText>
          </p>
        )}
      </div>
    </>
  );
}
