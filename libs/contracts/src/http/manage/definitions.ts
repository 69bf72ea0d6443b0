import { z } from 'zod';
import { agentDefinitionSchema } from '../../definitions/agent';
import { policyActions } from '../../definitions/role';
import { toolDefinitionSchema } from '../../definitions/tool';
import { jsonObjectSchema } from '../../json';
import { permissionExplanationSchema } from './executions';
import { listOf, pageQuery, time } from './list';

export const listDefinitionsQuerySchema = z.object(pageQuery);
export const agentParams = z.object({
  slug: z.string().min(1).max(200).describe('Slug of the agent.'),
});

const stored = {
  revision: z.number().int().describe('Number of pushes that changed the definition.'),
  updatedAt: time('When the definition was last changed.'),
};

const { slug, name, description, model, tools, roles } = agentDefinitionSchema.shape;

export const agentListSchema = listOf(
  z.object({
    id: z.string().describe('Id of the agent, the same in both environments.'),
    slug,
    name,
    description,
    model,
    tools,
    roles,
    ...stored,
  }),
);

const actionsSchema = z.enum(policyActions);

export const agentSchema = z.object({
  id: z.string().describe('Id of the agent, the same in both environments.'),
  slug,
  ...stored,
  definition: jsonObjectSchema.describe('The definition, as it was pushed.'),
  rights: z
    .object({
      entityTypes: z
        .array(
          z.object({
            entityType: z.string().describe('Slug of the entity type.'),
            actions: z
              .array(
                permissionExplanationSchema.extend({
                  action: actionsSchema.describe('The action.'),
                }),
              )
              .describe('What the agent may do with entities of the type.'),
          }),
        )
        .describe(
          'Rights on entities. Scope rules and field masks of the roles limit them further.',
        ),
      tools: z
        .array(
          z.object({
            name: z.string().describe('Name of the tool.'),
            isBuiltin: z.boolean().describe('Whether Parley defines the tool.'),
            action: actionsSchema.describe(
              'The permission that a call needs: `execute` on the tool, or this action on the entity type of the call.',
            ),
            permission: permissionExplanationSchema
              .nullable()
              .describe(
                'Whether the roles allow the tool. Null when the entity type of the call decides.',
              ),
          }),
        )
        .describe('The tools in the list of the agent that exist, without those of MCP servers.'),
    })
    .describe(
      'What the agent may do by its roles, when no caller with a role limits it further. Without roles, everything that its tools offer.',
    ),
});

export const routerListSchema = listOf(
  z.object({
    ...stored,
    definition: jsonObjectSchema.describe('The definition, as it was pushed.'),
  }),
);

export const roleListSchema = listOf(
  z.object({
    ...stored,
    definition: jsonObjectSchema.describe('The definition, as it was pushed.'),
  }),
);

const { templateOnly, secrets, runAs } = toolDefinitionSchema.shape;
// Any text is listed: earlier versions did not check the hosts that were pushed.
const allowedHosts = z
  .array(z.string())
  .optional()
  .describe(toolDefinitionSchema.shape.allowedHosts.description!);

export const toolListSchema = listOf(
  z.object({
    name: z.string().describe('Name of the tool.'),
    description: z.string().describe('What the tool does and when to call it. Models read it.'),
    parameters: jsonObjectSchema.describe('JSON Schema of the arguments.'),
    isBuiltin: z.boolean().describe('Whether Parley defines the tool.'),
    sideEffects: z.boolean().describe('Whether the tool may change something.'),
    action: actionsSchema.describe(
      'The permission that a call needs: `execute` on the tool, or this action on the entity type of the call.',
    ),
    custom: z
      .object({ templateOnly, allowedHosts, secrets, runAs, ...stored })
      .nullable()
      .describe('The other fields of a custom tool, without its code; null for a built-in tool.'),
  }),
);

export const searchIndexListSchema = z.object({
  data: z
    .array(
      z.object({
        entityType: z.string().describe('Slug of the entity type.'),
        name: z.string().describe('The name for people.'),
        searchFields: z
          .array(z.string())
          .describe('Fields that a search reads, the most important first.'),
        reindexing: z
          .object({
            done: z
              .number()
              .int()
              .describe(
                'Number of entities that are indexed for these fields; 0: waiting for the worker.',
              ),
            share: z.number().describe('Their share, from 0 to 1.'),
          })
          .nullable()
          .describe('Null: all entities are indexed for these fields.'),
      }),
    )
    .describe('One for each entity type.'),
});
