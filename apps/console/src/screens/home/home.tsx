import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { CheckCircle2, TriangleAlert } from 'lucide-react';
import { useThreadCounts } from '../../api/queries';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatCompact, formatDuration, formatExact, formatNumber, useTexts } from '../../i18n';
import { CopyText, Tabs, tabLook } from '../../parts/controls';
import { ScreenHead } from '../../parts/screen-head';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { Chart } from './chart';
import { homeCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/');
const hourMs = 3_600_000;
const ranges = { day: [24, 'hour'], week: [7 * 24, 'hour'], month: [30 * 24, 'day'] } as const;
type Range = keyof typeof ranges;

export function Home() {
  const home = useTexts(homeCatalog);
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={home.title} />
      <div className="min-h-0 flex-1 space-y-8 overflow-auto p-4 md:p-6">
        <Health />
        <Open />
        <Figures />
      </div>
    </div>
  );
}

/** What is dead, waiting or refused, and the command that fixes it. */
function Health() {
  const home = useTexts(homeCatalog);
  const { states } = useTexts();
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'health'],
    queryFn: ({ signal }) => api.getHealthReport({}, { signal }),
    refetchInterval: 15_000,
  });
  if (isPending) return <Skeleton rows={2} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  return (
    <section aria-label={home.title} className="space-y-3">
      <p
        className={`flex flex-wrap items-center gap-2 text-lg font-medium ${data.isHealthy ? 'text-done' : 'text-failed'}`}
      >
        {data.isHealthy ? <CheckCircle2 aria-hidden size={20} /> : <TriangleAlert aria-hidden size={20} />}
        {data.isHealthy ? home.healthy : home.problems(data.problems.length)}
        <span className="text-sm font-normal text-n11">
          <Ago at={data.checkedAt} />
        </span>
      </p>
      <ul className="max-w-3xl space-y-2">
        {data.problems.map((problem) => (
          <li key={problem.kind} className="rounded border border-n6 p-3">
            <p className="flex flex-wrap items-baseline gap-x-2 font-medium">
              <span className={problem.state === 'waiting' ? 'text-waiting' : 'text-failed'}>
                {formatNumber(problem.count)}
                {problem.isCapped && '+'}
              </span>
              {home.problem[problem.kind]}
              {problem.oldestAt !== null && (
                <span className="font-normal text-n11">
                  <Ago at={problem.oldestAt} />
                </span>
              )}
            </p>
            <p className="text-n11">
              {problem.description}
              {problem.names.length > 0 && ` (${problem.names.join(', ')})`}
            </p>
            {problem.command && (
              <p className="mt-1">
                <span className="sr-only">{home.command}: </span>
                <CopyText text={problem.command} />
              </p>
            )}
          </li>
        ))}
        {data.problems.length === 0 && <li className="sr-only">{states.none}</li>}
      </ul>
    </section>
  );
}

/** The open conversations by who answers them. */
function Open() {
  const home = useTexts(homeCatalog);
  const place = usePlace();
  const { data } = useThreadCounts();
  const shown = [
    ['waiting', home.waiting, 'waiting'],
    ['human', home.answeredByPeople, 'open'],
    ['mine', home.mine, 'mine'],
    ['agent', home.answeredByAgents, 'open'],
  ] as const;
  return (
    <ul className="flex flex-wrap gap-x-8 gap-y-3">
      {shown.map(([name, text, view]) => {
        const count = data?.[name];
        return (
          <li key={name}>
            <Link
              to="/$organization/$environment/conversations"
              params={place}
              search={{ view: view === 'open' ? undefined : view }}
              className="block rounded hover:underline"
            >
              <span
                className={`block text-xl font-semibold tabular-nums ${name === 'waiting' && count ? 'text-waiting' : ''}`}
              >
                {count === undefined ? ' ' : count >= 1_000 ? home.atLeast(formatNumber(1_000)) : formatNumber(count)}
              </span>
              <span className="text-n11">{text}</span>
            </Link>
          </li>
        );
      })}
    </ul>
  );
}

function Figures() {
  const texts = useTexts();
  const home = useTexts(homeCatalog);
  const { api, key } = useWorkspace();
  const place = usePlace();
  const search = route.useSearch();
  const range: Range = search.range === 'week' || search.range === 'month' ? search.range : 'day';
  const [hours, interval] = ranges[range];
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'statistics', range],
    queryFn: ({ signal }) => {
      const to = Math.ceil(Date.now() / hourMs) * hourMs;
      return api.getStatistics(
        { from: to - hours * hourMs, to, interval, timezone: Intl.DateTimeFormat().resolvedOptions().timeZone },
        { signal },
      );
    },
    refetchInterval: 60_000,
  });
  const names = { day: home.lastDay, week: home.lastWeek, month: home.lastMonth };
  const rows = data?.data ?? [];
  const sum = (name: 'messages' | 'failures' | 'executions' | 'inputTokens' | 'outputTokens') =>
    rows.reduce((total, row) => total + row[name], 0);
  const failures = sum('failures');
  return (
    <section aria-label={home.range} className="space-y-4">
      <Tabs label={home.range}>
        {(Object.keys(ranges) as Range[]).map((one) => (
          <Link
            key={one}
            from={route.id}
            to="."
            search={{ range: one === 'day' ? undefined : one }}
            replace
            aria-current={one === range ? 'page' : undefined}
            className={tabLook(one === range)}
          >
            {names[one]}
          </Link>
        ))}
      </Tabs>
      {isPending ? (
        <Skeleton />
      ) : data === undefined ? (
        <Failure error={error} onRetry={refetch} />
      ) : (
        <>
          {sum('messages') === 0 && (
            <Notice>
              {home.noMessages}
              <Link to="/$organization/$environment/playground" params={place} search={{}} className="underline">
                {home.tryAgent}
              </Link>
            </Notice>
          )}
          <div className="grid gap-6 lg:grid-cols-2">
            <Chart
              title={home.messages}
              total={formatNumber(sum('messages'))}
              rows={rows}
              series={[{ name: home.messages, colour: 'accent', value: (row) => row.messages }]}
              format={formatCompact}
            />
            <Chart
              title={home.failures}
              total={
                failures === 0
                  ? '0'
                  : `${formatNumber(failures)} · ${formatNumber(Math.round((failures / Math.max(1, sum('executions'))) * 1_000) / 10)} %`
              }
              rows={rows}
              series={[{ name: home.failures, colour: 'failed', value: (row) => row.failures }]}
              format={formatCompact}
            />
            <Chart
              title={home.latency}
              rows={rows}
              series={[
                { name: home.p50, colour: 'accent', value: (row) => row.p50Ms },
                { name: home.p95, colour: 'person', value: (row) => row.p95Ms },
              ]}
              format={(value) => formatDuration(value, texts)}
            />
            <Chart
              title={home.tokens}
              total={texts.units.tokens(formatCompact(sum('inputTokens')), formatCompact(sum('outputTokens')))}
              rows={rows}
              series={[
                { name: home.input, colour: 'accent', value: (row) => row.inputTokens },
                { name: home.output, colour: 'done', value: (row) => row.outputTokens },
              ]}
              format={formatCompact}
            />
          </div>
          {data.completeUntil !== null && (
            <p className="text-xs text-n10">{home.provisional(formatExact(data.completeUntil))}</p>
          )}
        </>
      )}
    </section>
  );
}
