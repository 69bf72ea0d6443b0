import type { InputOf, ResultOf } from '@parley/client/manage';
import { Link, getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useAgents } from '../../api/queries';
import { useKeys } from '../../frame/keys';
import { usePlace, useWorkspace } from '../../frame/workspace';
import { formatCompact, formatDuration, useTexts } from '../../i18n';
import { Button, Choice, Toggle } from '../../parts/controls';
import { Rows, usePages } from '../../parts/pages';
import { ScreenHead } from '../../parts/screen-head';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';

const route = getRouteApi('/$organization/$environment/executions');
type Item = ResultOf<'listExecutions'>['data'][number];
type StatusFilter = InputOf<'listExecutions'>['status'];
const isLive = (status: Item['status']): boolean => status === 'running' || status === 'queued';

export function Executions() {
  const texts = useTexts();
  const { executions, conversations } = texts;
  const { api, key } = useWorkspace();
  const place = usePlace();
  const search = route.useSearch();
  const navigate = useNavigate({ from: '/$organization/$environment/executions' });
  const filter = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const { data: agents } = useAgents();
  const input = { agent: search.agent, status: search.status as StatusFilter, toolErrors: search.errors };
  const list = usePages(
    [...key, 'executions', input],
    (cursor, signal) => api.listExecutions({ ...input, cursor }, { signal }),
    { refetchInterval: 5_000 },
  );
  const [at, setAt] = useState(-1);
  const open = (item: Item | undefined) =>
    item &&
    void navigate({
      to: '/$organization/$environment/executions/$executionId',
      params: { ...place, executionId: item.id },
      search: {},
    });
  useKeys({
    j: () => setAt((from) => Math.min(from + 1, list.items.length - 1)),
    k: () => setAt((from) => Math.max(from - 1, 0)),
    Enter: () => (at >= 0 && document.activeElement === document.body ? open(list.items[at]) : false),
  });
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={executions.title}>
        <Choice
          label={executions.agent}
          value={search.agent ?? ''}
          onChange={({ target }) => filter({ agent: target.value || undefined })}
          options={[['', executions.anyAgent], ...(agents?.data ?? []).map(({ slug, name }) => [slug, name] as const)]}
        />
        <Choice
          label={executions.status}
          value={search.status ?? ''}
          onChange={({ target }) => filter({ status: target.value || undefined })}
          options={[['', executions.anyStatus], ...Object.entries(executions.statuses)]}
        />
        <Toggle
          label={executions.withToolErrors}
          isOn={search.errors === true}
          onChange={(errors) => filter({ errors: errors || undefined })}
        />
        {isFiltered && (
          <Button look="quiet" onClick={() => void navigate({ search: {}, replace: true })}>
            {conversations.clearFilters}
          </Button>
        )}
      </ScreenHead>
      <div className="min-h-0 flex-1">
        <Rows
          list={list}
          rowPx={56}
          label={executions.title}
          keyOf={({ id }) => id}
          current={at}
          render={(item, index) => (
            <Link
              to="/$organization/$environment/executions/$executionId"
              params={{ ...place, executionId: item.id }}
              search={{}}
              className={`grid h-full grid-cols-[1fr_auto] items-center gap-x-4 border-b border-n4 px-4 hover:bg-n2 lg:grid-cols-[minmax(0,1fr)_9rem_8rem_6rem_10rem_7rem] ${index === at ? 'bg-n3' : ''}`}
            >
              <span className="min-w-0">
                <span className="block truncate">{item.input || texts.states.noValue}</span>
                <span className={`block truncate text-xs ${item.error ? 'text-failed' : 'text-n10'}`}>
                  {item.error ?? item.model ?? ''}
                </span>
              </span>
              <span className="max-lg:hidden truncate text-n11">{item.agentSlug}</span>
              <span className="max-lg:text-right">
                <Status status={item.status} text={executions.statuses[item.status]} />
                <span className="block text-xs text-n10 lg:hidden">
                  <Ago at={item.createdAt} />
                </span>
              </span>
              <span className="max-lg:hidden text-right tabular-nums">
                {isLive(item.status) ? '' : formatDuration(item.durationMs, texts)}
              </span>
              <span className="max-lg:hidden text-right tabular-nums text-n11">
                {texts.units.tokens(formatCompact(item.inputTokens), formatCompact(item.outputTokens))}
                <span className="block text-xs">
                  {texts.units.tools(item.toolCallCount)}
                  {item.toolErrorCount > 0 && (
                    <span className="text-failed"> · {texts.units.failed(item.toolErrorCount)}</span>
                  )}
                </span>
              </span>
              <span className="max-lg:hidden text-right text-n11">
                <Ago at={item.createdAt} />
              </span>
            </Link>
          )}
          empty={
            isFiltered ? (
              <Empty title={executions.emptyFilter} />
            ) : (
              <Empty title={executions.emptyTitle} command="npx parley chat">
                {executions.empty}
              </Empty>
            )
          }
        />
      </div>
    </div>
  );
}
