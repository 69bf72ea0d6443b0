import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useThreadCounts } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { formatCompact, formatDuration, formatExact, formatNumber, useTexts } from '../../i18n';
import { Link, base, linkTo } from '../../parts/link';
import { ScreenHead } from '../../parts/screen-head';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Tabs } from '../../parts/view-tabs';
import { Chart } from './chart';
import { Health } from './health';
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

/** The open conversations by who answers them. */
function Open() {
  const home = useTexts(homeCatalog);
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
              to="conversations"
              search={{ view: view === 'open' ? undefined : view }}
              className="block rounded hover:underline"
            >
              <span
                className={`block text-xl font-semibold tabular-nums ${name === 'waiting' && count ? 'text-waiting' : ''}`}
              >
                {count === undefined
                  ? ' '
                  : count >= 1_000
                    ? home.atLeast(formatNumber(1_000))
                    : formatNumber(count)}
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
  const search = route.useSearch();
  const range: Range = search.range === 'week' || search.range === 'month' ? search.range : 'day';
  const [hours, interval] = ranges[range];
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'statistics', range],
    queryFn: ({ signal }) => {
      const to = Math.ceil(Date.now() / hourMs) * hourMs;
      return api.getStatistics(
        {
          from: to - hours * hourMs,
          to,
          interval,
          timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        },
        { signal },
      );
    },
    refetchInterval: 60_000,
  });
  const executions = (status?: string) => linkTo({ to: 'executions', search: { status } });
  const names = { day: home.lastDay, week: home.lastWeek, month: home.lastMonth };
  const rows = data?.data ?? [];
  const sum = (name: 'messages' | 'failures' | 'executions' | 'inputTokens' | 'outputTokens') =>
    rows.reduce((total, row) => total + row[name], 0);
  const failures = sum('failures');
  return (
    <section aria-label={home.range} className="space-y-4">
      <Tabs
        label={home.range}
        views={(Object.keys(ranges) as Range[]).map((one) => [
          names[one],
          linkTo({ to: base, search: { range: one === 'day' ? undefined : one } }),
          one === range,
        ])}
      />
      {isPending ? (
        <Skeleton />
      ) : data === undefined ? (
        <Failure error={error} onRetry={refetch} />
      ) : (
        <>
          {sum('messages') === 0 && (
            <Notice>
              {home.noMessages}
              <Link to="playground" className="underline">
                {home.tryAgent}
              </Link>
            </Notice>
          )}
          <div className="grid gap-6 lg:grid-cols-2">
            <Chart
              title={home.messages}
              to={linkTo({ to: 'conversations', search: { view: 'all' } })}
              total={formatNumber(sum('messages'))}
              rows={rows}
              series={[{ name: home.messages, colour: 'accent', value: (row) => row.messages }]}
              format={formatCompact}
            />
            <Chart
              title={home.failures}
              to={executions('failed')}
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
              to={executions()}
              rows={rows}
              series={[
                { name: home.p50, colour: 'accent', value: (row) => row.p50Ms },
                { name: home.p95, colour: 'person', value: (row) => row.p95Ms },
              ]}
              format={(value) => formatDuration(value, texts)}
            />
            <Chart
              title={home.tokens}
              to={executions()}
              total={texts.units.tokens(
                formatCompact(sum('inputTokens')),
                formatCompact(sum('outputTokens')),
              )}
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
