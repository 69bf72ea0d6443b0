import { listAgents, listRouters, readAgent } from '@parley/agents';
import type { AgentDefinition, Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readEntityTypes, searchStates } from '@parley/entities';
import { agentActor, listRoleDefinitions, loadPermissions } from '@parley/permissions';
import { type Handler, notFound } from '@parley/service';
import { listTools, toolsInList } from '@parley/tools';
import { msOf, pageOf } from '../page';

interface Handlers {
  listAgents: Handler<'listAgents'>;
  getAgent: Handler<'getAgent'>;
  listRouters: Handler<'listRouters'>;
  listTools: Handler<'listTools'>;
  listRoles: Handler<'listRoles'>;
  listSearchIndexes: Handler<'listSearchIndexes'>;
}

/** What may be done with entities. */
const entityActions = ['create', 'read', 'update', 'delete', 'list'] as const;

export const createDefinitionHandlers = ({ db }: { db: Db }): Handlers => ({
  async listAgents({ query }, { scope }) {
    const { page, answer } = pageOf('agents', scope, query);
    return answer(
      await listAgents(db, scope, page),
      ({ id, slug, revision, updatedAt, definition }) => {
        const { name, description, model, tools, roles } = definition;
        return {
          id,
          slug,
          name,
          description,
          model,
          tools,
          roles,
          revision,
          updatedAt: msOf(updatedAt),
        };
      },
    );
  },

  async getAgent({ params: { slug } }, { scope }) {
    const agent = await readAgent(db, scope, slug);
    if (agent === null) throw notFound('Agent not found');
    const { id, revision, updatedAt } = agent;
    const definition = { ...agent.definition, slug };
    const rights = await rightsOf(db, scope, definition);
    return { id, slug, revision, updatedAt: msOf(updatedAt), definition, rights };
  },

  async listRouters({ query }, { scope }) {
    const { page, answer } = pageOf('routers', scope, query);
    return answer(
      await listRouters(db, scope, page),
      ({ slug, revision, updatedAt, definition }) => ({
        revision,
        updatedAt: msOf(updatedAt),
        definition: { ...definition, slug },
      }),
    );
  },

  async listTools({ query }, { scope }) {
    const { page, answer } = pageOf('tools', scope, query);
    return answer(await listTools(db, scope, page), ({ custom, ...tool }) => ({
      ...tool,
      custom: custom === null ? null : { ...custom, updatedAt: msOf(custom.updatedAt) },
    }));
  },

  async listRoles({ query }, { scope }) {
    const { page, answer } = pageOf('roles', scope, query);
    return answer(
      await listRoleDefinitions(db, scope, page),
      ({ slug, revision, updatedAt, definition }) => ({
        revision,
        updatedAt: msOf(updatedAt),
        definition: { ...definition, slug },
      }),
    );
  },

  async listSearchIndexes(_input, { scope }) {
    const states = await searchStates(db, scope);
    return { data: states.map(({ slug, ...state }) => ({ entityType: slug, ...state })) };
  },
});

async function rightsOf(db: Db, scope: Scope, agent: AgentDefinition) {
  const [types, tools, permissions] = await Promise.all([
    readEntityTypes(db, scope),
    toolsInList(db, scope, agent.tools ?? []),
    loadPermissions(db, scope, agentActor(agent)),
  ]);
  return {
    entityTypes: types.map(({ slug }) => ({
      entityType: slug,
      actions: entityActions.map((action) => ({ action, ...permissions.explain(action, slug) })),
    })),
    tools: tools.map((tool) => ({
      ...tool,
      permission: tool.action === 'execute' ? permissions.explain('execute', tool.name) : null,
    })),
  };
}
