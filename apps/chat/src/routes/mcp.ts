import type { Agents } from '@parley/agents';
import type { Actor } from '@parley/contracts';
import { type Handler, badRequest, notFound } from '@parley/service';
import { type McpCaller, type Tools, answerMcp, mcpVersions } from '@parley/tools';

/**
 * `POST /v1/mcp`: the environment's tools for clients of the Model Context Protocol (Streamable HTTP, no sessions, an
 * addition to the interface). Like run-tool it has the system's powers, so it needs `sync`; `?agent=<slug>` serves the
 * tools of an agent as that agent, and a key with a role acts by that role.
 */
export const mcp =
  ({ agents, tools }: { agents: Pick<Agents, 'describe'>; tools: Tools }): Handler<'mcp'> =>
  async ({ body, query }, { key, scope, request, requestId, response, signal }) => {
    const version = request.headers['mcp-protocol-version'];
    if (version !== undefined && !mcpVersions.some((known) => known === version)) {
      throw badRequest(`Unsupported MCP-Protocol-Version; supported are ${mcpVersions.join(', ')}`);
    }
    const context = { requestId, channel: 'api', hops: 0, depth: 0, signal };
    const roles = key.role === null ? null : [key.role];
    const byKey: Actor = roles === null ? { type: 'system' } : { type: 'user', apiKeyId: key.id, roles };
    let caller: McpCaller = { actor: byKey, allowed: null, context };
    if (query.agent !== undefined) {
      const agent = await agents.describe(scope, query.agent);
      if (agent === null) throw notFound('Agent not found or no config for this environment');
      const actor: Actor = { type: 'agent', slug: agent.slug, roles: roles ?? agent.roles ?? [] };
      caller = { actor, allowed: agent.tools ?? [], context: { ...context, agentSlug: agent.slug } };
    }
    const answer = await answerMcp(tools, scope, caller, body);
    if (answer === null) response.writeHead(202).end();
    return answer;
  };
