import {
  agentListSchema,
  agentParams,
  agentSchema,
  listDefinitionsQuerySchema,
  roleListSchema,
  routerListSchema,
  searchIndexListSchema,
  toolListSchema,
} from '../../http/manage/definitions';
import { defineOperations, get } from '../operation';

const table = {
  listAgents: get('/v1/agents', 'manage', { people: 'member' }),
  getAgent: get('/v1/agents/:slug', 'manage', { people: 'member' }),
  listRouters: get('/v1/routers', 'manage', { people: 'member' }),
  listTools: get('/v1/tools', 'manage', { people: 'member' }),
  listRoles: get('/v1/roles', 'manage', { people: 'member' }),
  listSearchIndexes: get('/v1/search-indexes', 'manage', { people: 'member' }),
};

const query = listDefinitionsQuerySchema;
const errors = {
  400: [['invalid_cursor', 'The cursor is invalid or belongs to another list']],
} as const;
const stored = { revision: 57, updatedAt: 1763683200000 };
const page = { cursor: 'c1.WyI…', hasMore: false };
const agent = {
  slug: 'shop-assistant',
  name: 'Shop assistant',
  tools: ['entity.query'],
  roles: ['sales'],
};
const allowed = {
  allowed: true,
  reason: 'policies.0 of the role "sales" allows it',
  policies: [{ role: 'sales', policy: 0 }],
};

export const definitionsOperations = defineOperations('Executions', table, {
  listAgents: {
    summary: 'List agents',
    description:
      'Returns the agents of the environment, newest first, without their prompts. Definitions change by `POST /v1/sync` only.',
    query,
    response: agentListSchema,
    errors,
    example: { response: { data: [{ id: 'agent_01', ...agent, ...stored }], ...page } },
  },
  getAgent: {
    summary: 'Get an agent',
    description:
      'Returns the definition of an agent, and what its roles allow, with the policies that decide.',
    params: agentParams,
    response: agentSchema,
    errors: { 404: [['not_found', 'Agent not found']] },
    example: {
      response: {
        id: 'agent_01',
        slug: agent.slug,
        ...stored,
        definition: { ...agent, systemPrompt: 'You answer for a shop.' },
        rights: {
          entityTypes: [{ entityType: 'order', actions: [{ action: 'list', ...allowed }] }],
          tools: [{ name: 'entity.query', isBuiltin: true, action: 'list', permission: null }],
        },
      },
    },
  },
  listRouters: {
    summary: 'List routers',
    description: 'Returns the routers of the environment with their definitions, newest first.',
    query,
    response: routerListSchema,
    errors,
    example: {
      response: {
        data: [
          {
            ...stored,
            definition: {
              slug: 'front-desk',
              name: 'Front desk',
              mode: 'classify',
              agents: ['a'],
              fallback: 'a',
            },
          },
        ],
        ...page,
      },
    },
  },
  listTools: {
    summary: 'List tools',
    description:
      'Returns the custom tools of the environment, newest first, then the built-in tools, with the schemas of their arguments. Tools of MCP servers are not listed.',
    query,
    response: toolListSchema,
    errors,
    example: {
      response: {
        data: [
          {
            name: 'orders.refund',
            description: 'Refunds an order.',
            parameters: { type: 'object', properties: { number: { type: 'number' } } },
            isBuiltin: false,
            sideEffects: true,
            action: 'execute',
            custom: { allowedHosts: ['api.example.com'], ...stored },
          },
        ],
        ...page,
      },
    },
  },
  listSearchIndexes: {
    summary: 'List search indexes',
    description:
      'Returns the search fields of each entity type, and how far its entities are indexed for them after a change. Ordered by entity type.',
    response: searchIndexListSchema,
    example: {
      response: {
        data: [
          {
            entityType: 'product',
            name: 'Product',
            searchFields: ['name', 'description'],
            reindexing: { done: 1200, share: 0.456 },
          },
        ],
      },
    },
  },
  listRoles: {
    summary: 'List roles',
    description:
      'Returns the roles of the environment with their policies, scope rules and field masks, newest first.',
    query,
    response: roleListSchema,
    errors,
    example: {
      response: {
        data: [
          {
            ...stored,
            definition: {
              slug: 'sales',
              name: 'Sales',
              policies: [{ resource: 'order', actions: ['list'], effect: 'allow' }],
            },
          },
        ],
        ...page,
      },
    },
  },
});
