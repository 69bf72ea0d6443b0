import type { Agents } from '@parley/agents';
import { actorOf, agentActor } from '@parley/permissions';
import { type Handler, forbidden, notFound } from '@parley/service';
import { type McpCaller, type Tools, answerMcp } from '@parley/tools';
import { type AuditDeps, auditOf, toolRun } from '../audit';

interface McpDeps extends AuditDeps {
  agents: Pick<Agents, 'describe'>;
  tools: Tools;
  isOwnOrigin?: (origin: string) => boolean;
}

/**
 * `POST /v1/mcp`: the environment's tools for clients of the Model Context Protocol (Streamable
 * HTTP without sessions, docs/reference/utilities.md#mcp). Calls run as the system, so the
 * permission `sync` is required. With `?agent=<slug>` only the agent's tools are offered, and calls
 * run as the agent. A key with a role acts within that role.
 */
export const mcp =
  ({ agents, tools, isOwnOrigin, ...deps }: McpDeps): Handler<'mcp'> =>
  async ({ body, query }, exchange) => {
    const { caller: apiCaller, scope, request, requestId, response, signal } = exchange;
    const { origin } = request.headers;
    if (origin !== undefined && !isOwnOrigin?.(origin)) {
      throw forbidden(`Requests of the web page ${origin} are not accepted`, 'foreign_origin');
    }
    const context = { requestId, channel: 'api', hops: 0, depth: 0, signal };
    const actor = actorOf(apiCaller);
    const record = auditOf(deps, exchange);
    const onStart = (tool: string) => record(toolRun(tool, query.agent ?? null));
    let caller: McpCaller = { actor, allowed: null, context, onStart };
    if (query.agent !== undefined) {
      const agent = await agents.describe(scope, query.agent);
      if (agent === null) throw notFound('Agent not found or no config for this environment');
      caller = {
        actor: agentActor(agent, actor),
        allowed: agent.tools ?? [],
        context: { ...context, agentSlug: agent.slug },
        onStart,
      };
    }
    const answer = await answerMcp(tools, scope, caller, {
      body,
      headers: request.headers,
      signal,
    });
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    return null;
  };
