import type { ReactNode } from 'react';
import { useWorkspace } from '../../frame/workspace';
import { formatDuration, formatExact, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { TextLink, linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import type { Run, RunStatus } from './queries';
import { triggersCatalog } from './texts';

interface RunListProps {
  title: string;
  before?: ReactNode;
  above?: ReactNode;
  trigger?: string;
  status?: string;
  entity?: string;
  onFilter: (filter: { status?: string; entity?: undefined }) => void;
}

/** The runs of one trigger or of all, newest first. */
export function RunList({ title, before, above, trigger, status, entity, onFilter }: RunListProps) {
  const texts = useTexts();
  const triggers = useTexts(triggersCatalog);
  const { api, key } = useWorkspace();
  const input = { trigger, status: status as RunStatus | undefined, entityId: entity };
  const list = usePages(
    [...key, 'trigger-runs', input],
    (cursor, signal) => api.listTriggerRuns({ ...input, cursor }, { signal }),
    { refetchInterval: 5_000 },
  );
  return (
    <ListScreen
      title={title}
      before={before}
      above={above}
      list={list}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo({ to: 'trigger-runs/$runId', params: { runId: id } })}
      mainTitle={trigger ? triggers.cause : triggers.trigger}
      main={(run) =>
        trigger
          ? [<RunCause run={run} />, run.error && <span className="text-failed">{run.error}</span>]
          : [
              run.triggerSlug,
              run.error ? <span className="text-failed">{run.error}</span> : <RunCause run={run} />,
            ]
      }
      columns={[
        { title: triggers.status, widthRem: 8, cell: (run) => <RunState run={run} /> },
        {
          title: triggers.attempts,
          widthRem: 6,
          isNumber: true,
          cell: (run) => triggers.attemptsOf(run.attempts, run.maxAttempts),
        },
        {
          title: triggers.duration,
          widthRem: 6,
          isNumber: true,
          cell: (run) => formatDuration(durationOf(run), texts),
        },
        {
          title: triggers.due,
          widthRem: 7,
          isNumber: true,
          cell: ({ runAt }) => <Ago at={runAt} />,
        },
      ]}
      side={(run) => [<RunState run={run} />, <Ago at={run.runAt} />]}
      onClear={
        status || entity ? () => onFilter({ status: undefined, entity: undefined }) : undefined
      }
      empty={<Empty title={triggers.noRuns}>{triggers.noRunsText}</Empty>}
    >
      <Choice
        label={triggers.status}
        value={status ?? ''}
        onChange={({ target }) => onFilter({ status: target.value || undefined })}
        options={[['', triggers.anyStatus], ...Object.entries(triggers.statuses)]}
      />
      {entity && <span className="truncate text-n11">{triggers.ofEntity(entity)}</span>}
    </ListScreen>
  );
}

/** Milliseconds that a run took; null before its end, and for one that never began. */
export const durationOf = ({
  startedAt,
  finishedAt,
}: Pick<Run, 'startedAt' | 'finishedAt'>): number | null =>
  startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);

export function RunState({ run: { status } }: { run: Pick<Run, 'status'> }) {
  const triggers = useTexts(triggersCatalog);
  return <Status status={status} text={triggers.statuses[status]} />;
}

/** Why a run exists: a cause is `event-ID`, `tick-MS`, `manual-ID` or `refused-ID`. */
export function causeInWords(
  { cause }: Pick<Run, 'cause'>,
  triggers: (typeof triggersCatalog)['en'],
): string {
  const [kind = '', value = ''] = cause.split(/-(.*)/s);
  if (kind === 'tick' && /^\d{1,15}$/.test(value))
    return triggers.tickAt(formatExact(Number(value)));
  return triggers.causes[kind as keyof typeof triggers.causes] ?? cause;
}

function RunCause({ run }: { run: Run }) {
  const triggers = useTexts(triggersCatalog);
  return (
    <>
      {causeInWords(run, triggers)}
      {run.entityId && <code className="ml-2 font-mono text-xs text-n10">{run.entityId}</code>}
    </>
  );
}

/** A link to the screen of a trigger. */
export function TriggerLink({ slug }: { slug: string }) {
  return (
    <TextLink to="triggers/$slug" params={{ slug }}>
      {slug}
    </TextLink>
  );
}
