import type { Agents } from '@parley/agents';
import { actorOf } from '@parley/permissions';
import { type Handler, badRequest, notFound } from '@parley/service';
import { type McpCaller, type Tools, answerMcp, mcpVersions } from '@parley/tools';

/**
 * `POST /v1/mcp`: the environment's tools for clients of the Model Context Protocol (Streamable HTTP without sessions,
 * docs/reference/utilities.md#mcp). Calls run as the system, so the permission `sync` is required. With `?agent=<slug>`
 * only the agent's tools are offered, and calls run as the agent. A key with a role has the rights of that role.
 */
export const mcp =
  ({ agents, tools }: { agents: Pick<Agents, 'describe'>; tools: Tools }): Handler<'mcp'> =>
  async ({ body, query }, { caller: apiCaller, scope, request, requestId, response, signal }) => {
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !mcpVersions.some((known) => known === version)) {
      throw badRequest(`Unsupported MCP-Protocol-Version; supported are ${mcpVersions.join(', ')}`);
    }
    const context = { requestId, channel: 'api', hops: 0, depth: 0, signal };
    const actor = actorOf(apiCaller);
    let caller: McpCaller = { actor, allowed: null, context };
    if (query.agent !== undefined) {
      const agent = await agents.describe(scope, query.agent);
      if (agent === null) throw notFound('Agent not found or no config for this environment');
      const roles = actor.type === 'user' ? actor.roles : (agent.roles ?? []);
      caller = {
        actor: { type: 'agent', slug: agent.slug, roles },
        allowed: agent.tools ?? [],
        context: { ...context, agentSlug: agent.slug },
      };
    }
    const answer = await answerMcp(tools, scope, caller, body);
    if (answer === null) response.writeHead(202).end();
    return answer;
  };
