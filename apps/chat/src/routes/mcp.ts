import type { Agents } from '@parley/agents';
import { actorOf } from '@parley/permissions';
import { type Handler, badRequest, notFound } from '@parley/service';
import { type McpCaller, type Tools, answerMcp, mcpVersions } from '@parley/tools';

/**
 * `POST /v1/mcp`: the environment's tools for clients of the Model Context Protocol (Streamable HTTP, no sessions, an
 * addition to the interface). Like run-tool it has the system's powers, so it needs `sync`; `?agent=<slug>` serves the
 * tools of an agent as that agent, and a key with a role acts by that role.
 */
export const mcp =
  ({ agents, tools }: { agents: Pick<Agents, 'describe'>; tools: Tools }): Handler<'mcp'> =>
  async ({ body, query }, { caller: asking, scope, request, requestId, response, signal }) => {
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !mcpVersions.some((known) => known === version)) {
      throw badRequest(`Unsupported MCP-Protocol-Version; supported are ${mcpVersions.join(', ')}`);
    }
    const context = { requestId, channel: 'api', hops: 0, depth: 0, signal };
    const actor = actorOf(asking);
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
