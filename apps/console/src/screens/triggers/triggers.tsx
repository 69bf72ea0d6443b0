import { getRouteApi } from '@tanstack/react-router';
import { formatNumber, useLanguage, useTexts } from '../../i18n';
import { linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import { type Trigger, useTriggers } from './queries';
import { RunList } from './run-list';
import { triggersCatalog } from './texts';
import { startInWords } from './words';

const route = getRouteApi('/$organization/$environment/triggers');

export function Triggers() {
  const triggers = useTexts(triggersCatalog);
  const { view, status, entity } = route.useSearch();
  const navigate = route.useNavigate();
  const isRuns = view === 'runs';
  const to = 'triggers';
  const tabs = (
    <ViewTabs
      label={triggers.views}
      views={[
        [triggers.triggers, linkTo({ to }), !isRuns],
        [triggers.runs, linkTo({ to, search: { view: 'runs' } }), isRuns],
      ]}
    />
  );
  if (!isRuns) return <TriggerList tabs={tabs} />;
  return (
    <RunList
      title={triggers.title}
      above={tabs}
      status={status}
      entity={entity}
      onFilter={(filter) =>
        void navigate({ search: (before) => ({ ...before, ...filter }), replace: true })
      }
    />
  );
}

function TriggerList({ tabs }: { tabs: React.ReactNode }) {
  const { states } = useTexts();
  const triggers = useTexts(triggersCatalog);
  const language = useLanguage();
  const list = useTriggers();
  return (
    <ListScreen
      title={triggers.title}
      above={tabs}
      list={list}
      keyOf={({ slug }) => slug}
      linkOf={({ slug }) => linkTo({ to: 'triggers/$slug', params: { slug } })}
      mainTitle={triggers.trigger}
      main={({ name, on }) => [name, startInWords(on, triggers, language)]}
      columns={[
        {
          title: triggers.slug,
          widthRem: 10,
          cell: ({ slug }) => <code className="font-mono text-xs">{slug}</code>,
        },
        {
          title: triggers.state,
          widthRem: 7,
          cell: (trigger) => <TriggerState trigger={trigger} />,
        },
        {
          title: triggers.next,
          widthRem: 8,
          cell: ({ nextTickAt }) =>
            nextTickAt === null ? states.noValue : <Ago at={nextTickAt} />,
        },
        {
          title: triggers.lastDay,
          widthRem: 20,
          isNumber: true,
          cell: ({ runs }) => <Counts runs={runs} />,
        },
      ]}
      side={(trigger) => [
        <TriggerState trigger={trigger} />,
        <Counts runs={trigger.runs} isShort />,
      ]}
      empty={
        <Empty title={triggers.empty} command="npx parley push">
          {triggers.emptyText}
        </Empty>
      }
    />
  );
}

export function TriggerState({ trigger: { enabled } }: { trigger: Pick<Trigger, 'enabled'> }) {
  const triggers = useTexts(triggersCatalog);
  return (
    <Status
      status={enabled ? 'enabled' : 'disabled'}
      text={enabled ? triggers.enabled : triggers.disabled}
    />
  );
}

const shownStatuses = ['dead', 'held', 'running', 'scheduled', 'succeeded', 'cancelled'] as const;
const colours: Record<string, string> = { dead: 'text-failed', held: 'text-waiting' };

/** The runs of a trigger by status. Those that need a person are first. */
function Counts({ runs, isShort }: { runs: Trigger['runs']; isShort?: boolean }) {
  const { states } = useTexts();
  const triggers = useTexts(triggersCatalog);
  const shown = shownStatuses
    .filter((status) => (runs[status] ?? 0) > 0)
    .slice(0, isShort ? 1 : undefined);
  if (shown.length === 0) return <span className="text-n10">{states.noValue}</span>;
  return shown.map((status, at) => (
    <span key={status} className={colours[status] ?? 'text-n11'}>
      {at > 0 && ' · '}
      {formatNumber(runs[status]!)} {triggers.statuses[status]}
    </span>
  ));
}
