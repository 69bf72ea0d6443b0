import { getRouteApi } from '@tanstack/react-router';
import { usePeople } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatDuration, formatExact, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { EntityLink } from '../../parts/entity-link';
import { Json } from '../../parts/json';
import { TextLink, linkTo } from '../../parts/link';
import { Failure, Notice, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { CauseEvent } from './cause-event';
import { useRun, useTriggers } from './queries';
import { RunState, TriggerLink, causeInWords, durationOf } from './run-list';
import { RunSteps } from './run-steps';
import { triggersCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/trigger-runs/$runId');
type RunDetails = NonNullable<ReturnType<typeof useRun>['data']>;

export function TriggerRun() {
  const { runId } = route.useParams();
  const triggers = useTexts(triggersCatalog);
  const { data: run, error, isPending, refetch } = useRun(runId);
  if (isPending) return <Skeleton rows={10} />;
  if (run === undefined) return <Failure error={error} onRetry={refetch} />;
  // A step that failed shows its error itself.
  const isOfStep =
    run.steps.at(-1)?.error !== undefined && run.error?.endsWith(run.steps.at(-1)!.error!) === true;
  const isWaiting = run.status === 'scheduled' && run.attempts > 0;
  return (
    <DetailScreen
      title={run.triggerSlug}
      back={linkTo({ to: 'triggers/$slug', params: { slug: run.triggerSlug } })}
      backTitle={triggers.runs}
      head={
        <>
          <RunState run={run} />
          <span className="text-n11">
            {causeInWords(run, triggers)} · <Ago at={run.createdAt} />
          </span>
        </>
      }
      actions={<Actions run={run} />}
    >
      <div className="grid items-start gap-6 p-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,24rem)]">
        <div className="min-w-0 space-y-4">
          {run.refusedRuns > 0 && <Notice>{triggers.refused(run.refusedRuns)}</Notice>}
          {run.error !== null && !isOfStep && (
            <div aria-label={triggers.error} role="group">
              <Notice kind={run.status === 'dead' ? 'failed' : 'waiting'}>{run.error}</Notice>
            </div>
          )}
          {isWaiting && (
            <p className="text-n11">
              {triggers.waitsForAttempt} <Ago at={run.runAt} />
            </p>
          )}
          <RunSteps run={run} />
          {Object.keys(run.context).length > 0 && (
            <Json value={run.context} label={triggers.context} />
          )}
        </div>
        <div className="min-w-0 space-y-4">
          <RunFacts run={run} />
          <CauseEvent run={run} />
        </div>
      </div>
    </DetailScreen>
  );
}

function Actions({ run: { id, status, refusedRuns } }: { run: RunDetails }) {
  const triggers = useTexts(triggersCatalog);
  const { api } = useWorkspace();
  const names = ['trigger-run', 'trigger-runs', 'triggers', 'health'];
  const retry = useChange(() => api.retryTriggerRun({ id }), ...names);
  const cancel = useChange(() => api.cancelTriggerRun({ id }), ...names);
  const mayRetry = refusedRuns === 0 && (status === 'dead' || status === 'cancelled');
  return (
    <>
      {mayRetry && (
        <ConfirmButton
          action={triggers.retry}
          question={triggers.retryQuestion}
          look="primary"
          change={retry}
        />
      )}
      {(status === 'scheduled' || status === 'running') && (
        <ConfirmButton
          action={triggers.cancel}
          question={triggers.cancelQuestion}
          buttonLook="plain"
          change={cancel}
        />
      )}
    </>
  );
}

function RunFacts({ run }: { run: RunDetails }) {
  const texts = useTexts();
  const triggers = useTexts(triggersCatalog);
  const all = useTriggers().items;
  const type = all.find(({ slug }) => slug === run.triggerSlug)?.on.entityType;
  const time = (at: number | null) => at !== null && <Ago at={at} />;
  return (
    <Facts
      facts={[
        [triggers.trigger, <TriggerLink slug={run.triggerSlug} />],
        [triggers.cause, causeInWords(run, triggers)],
        [triggers.author, run.author && <Author author={run.author} />],
        [triggers.entity, run.entityId && <EntityLink id={run.entityId} type={type} />],
        [
          '',
          run.entityId && (
            <TextLink to="triggers" search={{ view: 'runs', entity: run.entityId }}>
              {triggers.entityRuns}
            </TextLink>
          ),
        ],
        [triggers.chain, <Chain run={run} />],
        [triggers.attempts, triggers.attemptsOf(run.attempts, run.maxAttempts)],
        [triggers.due, <time title={formatExact(run.runAt)}>{formatExact(run.runAt)}</time>],
        [triggers.started, time(run.startedAt)],
        [triggers.ended, time(run.finishedAt)],
        [triggers.duration, run.finishedAt !== null && formatDuration(durationOf(run), texts)],
        [triggers.request, run.requestId && <CopyText text={run.requestId} />],
        [triggers.id, <CopyText text={run.id} />],
      ]}
    />
  );
}

/** Who fired the trigger by hand: the name of a member, else an id. */
function Author({ author: { type, id } }: { author: NonNullable<RunDetails['author']> }) {
  const triggers = useTexts(triggersCatalog);
  const person = usePeople().find((one) => one.id === id);
  if (person !== undefined) return person.name;
  return (
    <>
      {triggers.authors[type]} <CopyText text={id} />
    </>
  );
}

/** Where the run is in its chain of triggers, and what began the chain. */
function Chain({ run: { id, root, hops, cause } }: { run: RunDetails }) {
  const triggers = useTexts(triggersCatalog);
  if (root === id || cause.endsWith(`-${root}`)) return triggers.chainStart;
  return (
    <>
      {triggers.chainPosition(hops)} {triggers.chainRoot}{' '}
      {root.startsWith('run_') ? (
        <TextLink to="trigger-runs/$runId" params={{ runId: root }} className="font-mono text-xs">
          {root}
        </TextLink>
      ) : (
        <CopyText text={root} />
      )}
    </>
  );
}
