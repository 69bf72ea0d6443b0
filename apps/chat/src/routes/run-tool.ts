import type { Agents } from '@parley/agents';
import { actorOf, agentActor } from '@parley/permissions';
import { type Handler, HttpError, unavailable } from '@parley/service';
import type { ToolErrorType, ToolFailure, Tools } from '@parley/tools';
import { type AuditDeps, auditOf, toolRun } from '../audit';

/**
 * Status and `errorType` of each error (docs/reference/utilities.md#run-a-tool). The error's `code`
 * is the exact type.
 */
const answers: Record<ToolErrorType, [status: number, errorType: string]> = {
  not_found: [404, 'not_found'],
  tool_not_found: [400, 'tool_not_found'],
  permission_denied: [403, 'permission_denied'],
  invalid_arguments: [500, 'execution_error'],
  execution_error: [500, 'execution_error'],
  timeout: [500, 'execution_error'],
};

export interface RunToolDeps extends AuditDeps {
  agents: Pick<Agents, 'describe'>;
  tools: Pick<Tools, 'run' | 'describe'>;
}

/**
 * `POST /v1/run-tool`: runs a tool as an agent, with the agent's permissions, or else as the
 * system; within the role of the key.
 */
export const runTool =
  ({ agents, tools, ...deps }: RunToolDeps): Handler<'runTool'> =>
  async ({ body: { agentSlug, toolName, args = {} } }, exchange) => {
    const { caller, scope, requestId, signal } = exchange;
    const startedAt = performance.now();
    const fail = ({
      errorType: type,
      message,
      reason,
      logs,
      isNotDone,
    }: Omit<ToolFailure, 'ok'>) => {
      const [status, errorType] = answers[type];
      const fields = {
        errorType,
        durationMs: since(startedAt),
        ...(reason !== undefined && { reason }),
        ...(logs && { logs }),
      };
      if (!isNotDone) return new HttpError(status, type, message, { fields });
      const { status: unavailableStatus, code, extra } = unavailable();
      return new HttpError(unavailableStatus, code, message, { ...extra, fields });
    };
    const agent = agentSlug === undefined ? null : await agents.describe(scope, agentSlug);
    if (agentSlug !== undefined && agent === null) {
      throw fail({
        errorType: 'not_found',
        message: 'Agent not found or no config for this environment',
      });
    }
    const asCaller = actorOf(caller);
    const actor = agent === null ? asCaller : agentActor(agent, asCaller);
    const result = await tools.run(scope, {
      name: toolName,
      args,
      actor,
      allowed: agent === null ? null : (agent.tools ?? []),
      context: { requestId, agentSlug, channel: 'api', hops: 0, depth: 0, signal },
      onStart: () => auditOf(deps, exchange)(toolRun(toolName, agentSlug ?? null)),
    });
    if (!result.ok) throw fail(result);
    return {
      tool: {
        name: toolName,
        isBuiltin: (await tools.describe(scope, toolName))?.isBuiltin ?? false,
      },
      agent: agent === null ? null : { name: agent.name, slug: agent.slug },
      environment: scope.environment,
      result: result.result,
      ...(result.logs && { logs: result.logs }),
      durationMs: since(startedAt),
      identity: { actorType: actor.type },
    };
  };

const since = (startedAt: number): number => Math.round(performance.now() - startedAt);
