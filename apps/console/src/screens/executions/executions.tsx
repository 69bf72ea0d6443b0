import type { InputOf, ResultOf } from '@parley/client/manage';
import { getRouteApi } from '@tanstack/react-router';
import { useAgents } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { formatCompact, formatDuration, useTexts } from '../../i18n';
import { Choice, Toggle } from '../../parts/controls';
import { linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { executionsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/executions');
type Item = ResultOf<'listExecutions'>['data'][number];
type StatusFilter = InputOf<'listExecutions'>['status'];
const isLive = (status: Item['status']): boolean => status === 'running' || status === 'queued';

export function Executions() {
  const texts = useTexts();
  const executions = useTexts(executionsCatalog);
  const { api, key } = useWorkspace();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (change: Partial<typeof search>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const agents = useAgents().items;
  const input = {
    agent: search.agent,
    status: search.status as StatusFilter,
    toolErrors: search.errors,
  };
  const list = usePages(
    [...key, 'executions', input],
    (cursor, signal) => api.listExecutions({ ...input, cursor }, { signal }),
    { refetchInterval: 5_000 },
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <ListScreen
      title={executions.title}
      list={list}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo({ to: 'executions/$executionId', params: { executionId: id } })}
      mainTitle={executions.message}
      main={(item) => [
        item.input || texts.states.noValue,
        <span className={item.error ? 'text-failed' : ''}>{item.error ?? item.model}</span>,
      ]}
      columns={[
        { title: executions.agent, widthRem: 9, cell: ({ agentSlug }) => agentSlug },
        { title: executions.status, widthRem: 8, cell: (item) => <ExecutionStatus item={item} /> },
        {
          title: executions.duration,
          widthRem: 6,
          isNumber: true,
          cell: (item) => !isLive(item.status) && formatDuration(item.durationMs, texts),
        },
        {
          title: executions.tokens,
          widthRem: 10,
          isNumber: true,
          cell: (item) => <Work item={item} />,
        },
        {
          title: executions.started,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [<ExecutionStatus item={item} />, <Ago at={item.createdAt} />]}
      onClear={isFiltered ? () => void navigate({ search: {}, replace: true }) : undefined}
      empty={
        <Empty title={executions.emptyTitle} command="npx parley chat">
          {executions.empty}
        </Empty>
      }
    >
      <Choice
        label={executions.agent}
        value={search.agent ?? ''}
        onChange={({ target }) => filter({ agent: target.value || undefined })}
        options={[
          ['', executions.anyAgent],
          ...agents.map(({ slug, name }) => [slug, name] as const),
        ]}
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
    </ListScreen>
  );
}

function ExecutionStatus({ item }: { item: Item }) {
  const executions = useTexts(executionsCatalog);
  return <Status status={item.status} text={executions.statuses[item.status]} />;
}

function Work({ item }: { item: Item }) {
  const { units } = useTexts();
  return (
    <span className="text-n11">
      {units.tokens(formatCompact(item.inputTokens), formatCompact(item.outputTokens))}
      <span className="block text-xs">
        {units.tools(item.toolCallCount)}
        {item.toolErrorCount > 0 && (
          <span className="text-failed"> · {units.failed(item.toolErrorCount)}</span>
        )}
      </span>
    </span>
  );
}
