import { type JsonObject, type Scope, type ToolDefinition, canonicalJson } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';
import { argumentFailure, failure } from '../failure';
import { mcpNamespace } from '../mcp/mcp-names';
import type { Tool, ToolDeps, ToolSource } from '../tool';
import { checkArguments } from '../schemas/parameters';
import { runCustomTool } from './run-custom-tool';

/** The custom tools of all environments, read from the database at each call. */
export const createCustomTools = ({ db }: ToolDeps): ToolSource => ({
  owns: (name) => !name.startsWith(mcpNamespace),
  async find(scope, name) {
    // A model may send any name. A name that no tool can have is not looked up.
    if (!/^[\w.-]{1,64}$/.test(name)) return null;
    const stored = await loadTool(db, scope, name);
    return stored === null ? null : toTool(stored, scope, async () => stored);
  },
  list: async (scope, names) =>
    names.length === 0
      ? []
      : (await loadOffers(db, scope, names)).map((offer) =>
          toTool(offer, scope, () => loadTool(db, scope, offer.name)),
        ),
});

type Offer = Pick<ToolDefinition, 'name' | 'description' | 'parameters' | 'templateOnly'>;

/** `load`: reads the whole definition; null when the tool was deleted in the meantime. */
function toTool(
  offer: Offer,
  { organizationId }: Scope,
  load: () => Promise<ToolDefinition | null>,
): Tool {
  const { name, description, parameters, templateOnly } = offer;
  return {
    name,
    description,
    parameters: asObjectSchema(parameters),
    // The effects of user code are unknown, so a call must not be repeated.
    sideEffects: true,
    isBuiltin: false,
    templateOnly,
    needs: { action: 'execute' },
    async check(args) {
      const checked = await checkArguments(parameters, args, organizationId);
      if (!checked.ok) return argumentFailure(name, checked);
      return {
        ok: true,
        async run(call) {
          const stored = await load();
          if (stored === null) return failure('not_found', `Tool not found: ${name}`);
          // The arguments were checked against these parameters, and a push may have changed both.
          if (canonicalJson(stored.parameters) !== canonicalJson(parameters))
            return failure(
              'execution_error',
              `The parameters of ${name} have changed since it was offered`,
            );
          return runCustomTool(stored, args, call);
        },
      };
    },
  };
}

/** Model providers require `properties` and `type`. */
const asObjectSchema = (parameters: JsonObject): JsonObject => ({
  properties: {},
  ...parameters,
  type: 'object',
});

const toolByName = statement(
  'custom-tool',
  'select name, definition from tools where tenant = $tenant and environment = $environment::"Environment" and name = $name',
  { name: column.text, definition: column.jsonb<ToolDefinition>() },
);

async function loadTool(db: Queryable, scope: Scope, name: string): Promise<ToolDefinition | null> {
  const [found] = (await db.query(scope, toolByName, { environment: scope.environment, name }))
    .rows;
  return found === undefined ? null : { ...found.definition, name };
}

/** Without the code, of which a thousand tools have hundreds of megabytes. */
const offersByName = statement(
  'custom-tools',
  `select name, definition->>'description' as description, definition->'parameters' as parameters,
          coalesce((definition->>'templateOnly')::boolean, false) as "templateOnly"
   from tools
   where tenant = $tenant and environment = $environment::"Environment"
     and (name = any($names) or '*' = any($names)
       or exists (select from unnest($prefixes::text[]) p where starts_with(name, p)))
   order by name`,
  {
    name: column.text,
    description: column.text,
    parameters: column.jsonb<JsonObject>(),
    templateOnly: column.bool,
  },
);

/**
 * The custom tools with these names, as they are offered to models. `orders.*` is every tool of the
 * namespace and `*` every tool.
 */
async function loadOffers(db: Queryable, scope: Scope, names: readonly string[]): Promise<Offer[]> {
  const prefixes = names.filter((name) => name.endsWith('.*')).map((name) => name.slice(0, -1));
  return (await db.query(scope, offersByName, { environment: scope.environment, names, prefixes }))
    .rows;
}
