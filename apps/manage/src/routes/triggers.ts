import type { Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { type CallerContext, type Handler, conflict, notFound } from '@parley/service';
import {
  type TriggerRunSummary,
  type TriggerSummary,
  cancelRuns,
  findRun,
  hasTrigger,
  listRuns,
  listTriggers,
  retryRuns,
  setTriggerEnabled,
} from '@parley/triggers';
import { type AuditDeps, auditOf } from '../audit';
import { dateOf, msOf, msOrNull, pageOf } from '../page';

interface Handlers {
  listTriggers: Handler<'listTriggers'>;
  enableTrigger: Handler<'enableTrigger'>;
  disableTrigger: Handler<'disableTrigger'>;
  listTriggerRuns: Handler<'listTriggerRuns'>;
  getTriggerRun: Handler<'getTriggerRun'>;
  retryTriggerRun: Handler<'retryTriggerRun'>;
  cancelTriggerRun: Handler<'cancelTriggerRun'>;
  retryTriggerRuns: Handler<'retryTriggerRuns'>;
  cancelTriggerRuns: Handler<'cancelTriggerRuns'>;
}

const triggerNotFound = (slug: string) =>
  notFound(`Trigger ${slug} not found`, 'trigger_not_found');
const slugPattern = /^.{1,100}$/;
const runNotFound = () => notFound('Trigger run not found', 'run_not_found');

const changes = {
  retried: {
    change: retryRuns,
    refusal: () => conflict('Only dead and cancelled runs can be retried', 'run_not_retryable'),
  },
  cancelled: { change: cancelRuns, refusal: () => conflict('The run has ended', 'run_ended') },
};

export function createTriggerHandlers({ db, ...deps }: { db: Db } & AuditDeps): Handlers {
  const switchTo =
    (isEnabled: boolean) =>
    ({ params: { slug } }: { params: { slug: string } }, context: CallerContext) =>
      db.transaction(async (tx) => {
        const switched = await setTriggerEnabled(tx, context.scope, slug, isEnabled);
        if (switched === 'not_found') throw triggerNotFound(slug);
        if (switched === 'disabled_by_definition') {
          const message = 'The trigger was pushed with enabled: false. Push it with enabled: true';
          throw conflict(message, 'disabled_by_definition');
        }
        await auditOf(deps, context)(tx, {
          action: isEnabled ? 'trigger.enabled' : 'trigger.disabled',
          target: { type: 'trigger', id: slug },
          before: { enabled: switched.wasEnabled },
        });
        return { slug, enabled: isEnabled };
      });

  const changeOne =
    (verb: keyof typeof changes) =>
    ({ params: { id } }: { params: { id: string } }, context: CallerContext) =>
      db.transaction(async (tx) => {
        const before = await runOf(tx, context.scope, id);
        const changed = await changes[verb].change(tx, context.scope, [id]);
        if (changed.length === 0) throw changes[verb].refusal();
        await auditOf(deps, context)(tx, {
          action: `trigger_run.${verb}`,
          target: { type: 'trigger_run', id },
          before: { status: before.status, error: before.error },
        });
        const {
          requestId: _,
          context: __,
          steps: ___,
          ...run
        } = await runOf(tx, context.scope, id);
        return toRun(run);
      });

  const changeAll =
    (verb: keyof typeof changes) =>
    ({ body: { trigger } }: { body: { trigger: string } }, context: CallerContext) =>
      db.transaction(async (tx) => {
        if (!(await hasTrigger(tx, context.scope, trigger))) throw triggerNotFound(trigger);
        const changed = await changes[verb].change(tx, context.scope, [trigger]);
        await auditOf(deps, context)(tx, {
          action: `trigger_runs.${verb}`,
          target: { type: 'trigger', id: trigger },
          after: { runs: changed.length },
        });
        return { runs: changed.map(({ id }) => id) };
      });

  return {
    async listTriggers({ query }, { scope }) {
      const { page, answer } = pageOf('triggers', scope, query, slugPattern);
      const toItem = (trigger: TriggerSummary) => ({
        ...trigger,
        nextTickAt: tickOf(trigger.nextTickAt),
      });
      return answer(await listTriggers(db, scope, page), toItem);
    },
    enableTrigger: switchTo(true),
    disableTrigger: switchTo(false),
    async listTriggerRuns({ query }, { scope }) {
      const { page, answer } = pageOf('trigger-runs', scope, query);
      const { trigger, status, entityId } = query;
      const filter = { triggerSlug: trigger, status, entityId, since: dateOf(query.since) };
      return answer(await listRuns(db, scope, { ...page, ...filter }), toRun);
    },
    getTriggerRun: async ({ params: { id } }, { scope }) => toRun(await runOf(db, scope, id)),
    retryTriggerRun: changeOne('retried'),
    cancelTriggerRun: changeOne('cancelled'),
    retryTriggerRuns: changeAll('retried'),
    cancelTriggerRuns: changeAll('cancelled'),
  };
}

async function runOf(db: Queryable, scope: Scope, id: string) {
  const run = await findRun(db, scope, id);
  if (run === null) throw runNotFound();
  return run;
}

/** A schedule without a further tick has one in a far year. */
const tickOf = (at: Date | null): number | null =>
  at === null || at.getUTCFullYear() > 9000 ? null : at.getTime();

const toRun = <R extends TriggerRunSummary>(run: R) => ({
  ...run,
  runAt: msOf(run.runAt),
  createdAt: msOf(run.createdAt),
  startedAt: msOrNull(run.startedAt),
  finishedAt: msOrNull(run.finishedAt),
});
