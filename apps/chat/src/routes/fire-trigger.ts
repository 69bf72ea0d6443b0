import { type Handler, HttpError } from '@parley/service';
import type { FireResult, Triggers } from '@parley/triggers';
import { type AuditDeps, auditOf } from '../audit';

interface FireTriggerDeps extends AuditDeps {
  triggers: Pick<Triggers, 'fire'>;
}

/** `POST /v1/fire-trigger`: runs a trigger's actions as the system and waits for them. */
export const fireTrigger =
  (deps: FireTriggerDeps): Handler<'fireTrigger'> =>
  async ({ body }, context) => {
    const { caller, scope, requestId } = context;
    const startedAt = performance.now();
    const target = { type: 'trigger', id: body.triggerSlug };
    const fired = await deps.triggers.fire(scope, {
      ...body,
      requestId,
      author: { type: caller.type, id: caller.id },
      onStored: (tx, runId) =>
        auditOf(deps, context)(
          { action: 'trigger.fired', target, after: { run: runId, entity: body.entityId ?? null } },
          tx,
        ),
    });
    const durationMs = Math.round(performance.now() - startedAt);
    if (!fired.ok) throw refusalOf(fired, durationMs);
    const steps = fired.steps.map(({ tool, status, durationMs: tookMs }) => ({
      tool,
      status,
      durationMs: tookMs,
    }));
    return {
      success: true,
      triggerSlug: body.triggerSlug,
      result: { runId: fired.runId, steps, durationMs },
    };
  };

/**
 * Error types as in docs/reference/utilities.md#fire-a-trigger. An action that finds nothing is an
 * `execution_error`.
 */
function refusalOf(fired: Extract<FireResult, { ok: false }>, durationMs: number): HttpError {
  const refuse = (status: number, errorType: string, message: string) =>
    new HttpError(status, errorType, message, { fields: { errorType, durationMs } });
  switch (fired.reason) {
    case 'trigger_not_found':
      return refuse(404, 'not_found', 'Trigger not found');
    case 'entity_not_found':
      return refuse(404, 'not_found', 'Entity not found');
    case 'interrupted':
      return refuse(
        500,
        'execution_error',
        `Run ${fired.runId} was interrupted; a worker continues it`,
      );
    case 'cancelled':
      return refuse(500, 'execution_error', `Run ${fired.runId} was cancelled while it ran`);
    case 'failed': {
      const step = fired.steps.at(-1);
      const message = `Step ${fired.steps.length} (${step?.tool}) failed: ${fired.error}`;
      return step?.errorType === 'permission_denied'
        ? refuse(403, 'permission_denied', message)
        : refuse(500, 'execution_error', message);
    }
  }
}
