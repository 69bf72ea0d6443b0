import type { JsonObject, Scope, ToolDefinition } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  pageValues,
  statement,
  toPaged,
} from '@parley/db';
import { isListed } from '@parley/permissions';
import { builtInTools } from './builtins/create-built-ins';
import type { Tool } from './tool';

type CustomFields = Pick<ToolDefinition, 'templateOnly' | 'allowedHosts' | 'secrets' | 'runAs'>;

export interface ListedTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  isBuiltin: boolean;
  sideEffects: boolean;
  /** The permission that a call needs: to execute the tool, or an action on an entity type. */
  action: Tool['needs']['action'];
  /** Null for a built-in tool. */
  custom: (CustomFields & { revision: number; updatedAt: Date }) | null;
}

const toolRow = {
  id: column.text,
  name: column.text,
  revision: column.int4,
  definition: column.jsonb<Omit<ToolDefinition, 'handlerCode' | 'name'>>(),
  createdAt: column.timestamptz,
  updatedAt: column.timestamptz,
};

const toolsOfEnvironment = listStatement(
  'list-custom-tools',
  `select id, name, revision, definition::jsonb - 'handlerCode' as definition, created_at as "createdAt",
          updated_at as "updatedAt"
   from tools
   where tenant = $tenant and environment = $environment::"Environment"
     and ($beforeAt::timestamptz is null or (created_at, id) < ($beforeAt, $beforeId::text))
   order by created_at desc, id desc limit $limit`,
  toolRow,
);

/**
 * Built-in tools follow the custom ones. Their position in the list is this time and their place
 * among each other.
 */
const epoch = new Date(0);

/** The custom tools of an environment, newest first, then all built-in tools. */
export async function listTools(
  db: Queryable,
  scope: Scope,
  page: Page,
): Promise<Paged<ListedTool>> {
  const isAfterCustom = page.before?.at.getTime() === 0;
  const values = { environment: scope.environment, ...pageValues(page) };
  const custom = isAfterCustom ? [] : (await db.query(scope, toolsOfEnvironment, values)).rows;
  const placed = custom.map(({ createdAt: at, id, hasMore, ...row }) => ({
    at,
    id,
    hasMore,
    tool: toCustom(row),
  }));
  const first = isAfterCustom ? Number(page.before!.id) + 1 : 0;
  // A page that ends at its size has further custom tools behind it.
  if (placed.at(-1)?.hasMore !== true) {
    for (const last of placed.slice(-1)) last.hasMore = first < builtInTools.length;
    for (const [index, tool] of builtInTools.entries()) {
      const hasMore = index < builtInTools.length - 1;
      if (index >= first)
        placed.push({ at: epoch, id: String(index), hasMore, tool: toListed(tool) });
    }
  }
  const { items, ...rest } = toPaged(placed, page, ({ at, id }) => ({ at, id }));
  return { ...rest, items: items.map(({ tool }) => tool) };
}

type CustomRow = Omit<RowOf<typeof toolRow>, 'id' | 'createdAt'>;

function toCustom({ name, revision, definition, updatedAt }: CustomRow): ListedTool {
  const { description, parameters, templateOnly, allowedHosts, secrets, runAs } = definition;
  const custom = { templateOnly, allowedHosts, secrets, runAs, revision, updatedAt };
  return {
    name,
    description,
    parameters,
    isBuiltin: false,
    sideEffects: true,
    action: 'execute',
    custom,
  };
}

const toListed = ({
  name,
  description,
  parameters,
  isBuiltin,
  sideEffects,
  needs,
}: Tool): ListedTool => ({
  name,
  description,
  parameters,
  isBuiltin,
  sideEffects,
  action: needs.action,
  custom: null,
});

const customNames = statement(
  'names-of-custom-tools',
  'select name from tools where tenant = $tenant and environment = $environment::"Environment" order by name',
  { name: column.text },
);

/**
 * The built-in and custom tools that a list of an agent contains. Tools of MCP servers
 * are not among them.
 */
export async function toolsInList(
  db: Queryable,
  scope: Scope,
  list: readonly string[],
): Promise<Pick<ListedTool, 'name' | 'isBuiltin' | 'action'>[]> {
  const { rows } = await db.query(scope, customNames, { environment: scope.environment });
  const builtIn = builtInTools.map(({ name, isBuiltin, needs }) => ({
    name,
    isBuiltin,
    action: needs.action,
  }));
  const custom = rows.map(({ name }) => ({ name, isBuiltin: false, action: 'execute' as const }));
  return [...builtIn, ...custom].filter(({ name }) => isListed(list, name));
}
