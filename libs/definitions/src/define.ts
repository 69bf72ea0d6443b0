import {
  type AgentDefinition,
  type EntityTypeDefinition,
  type JsonObject,
  type ResourceKind,
  type RoleDefinition,
  type RouterDefinition,
  type ToolDefinition,
  type TriggerDefinition,
  parseDefinition,
} from '@parley/contracts';
import { DefinitionError } from './definition-error';
import { type ToolHandler, handlerCodeOf } from './tool-handler';

/**
 * The kinds of all defined values, so that a loader can distinguish definitions from other exports.
 */
const kinds = new WeakMap<object, ResourceKind>();

/** Returns the kind of a definition, or null if no `define…` function returned the value. */
export const kindOf = (value: unknown): ResourceKind | null =>
  typeof value === 'object' && value !== null ? (kinds.get(value) ?? null) : null;

function define<K extends ResourceKind>(kind: K, value: object) {
  const parsed = parseDefinition(kind, value);
  if (!parsed.ok && (!isLenient || typeof value !== 'object' || value === null)) {
    throw new DefinitionError(kind, subjectOf(value), parsed.problems);
  }
  // In lenient mode an invalid value is returned unchanged: the loader validates it again.
  const definition = (parsed.ok ? parsed.value : value) as Extract<
    typeof parsed,
    { ok: true }
  >['value'];
  kinds.set(definition, kind);
  return definition;
}

let isLenient = false;

/**
 * Runs code in which the `define…` functions return invalid definitions unchanged instead
 * of throwing, so that a loader can report the problems of all files together. `work`
 * must be synchronous.
 */
export function withoutThrowing<T>(work: () => T): T {
  isLenient = true;
  try {
    return work();
  } finally {
    isLenient = false;
  }
}

function subjectOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { slug, name } = value as { slug?: unknown; name?: unknown };
  return typeof slug === 'string' ? slug : typeof name === 'string' ? name : null;
}

/**
 * Defines an agent: its prompt, model and tools. Throws a DefinitionError that lists
 * every invalid field.
 */
export const defineAgent = (agent: AgentDefinition): AgentDefinition => define('agents', agent);

/**
 * The type name of a field. Values are checked against it when an entity is written. A push
 * refuses unknown names.
 */
export type FieldType =
  | 'string'
  | 'text'
  | 'email'
  | 'url'
  | 'phone'
  | 'enum'
  | 'reference'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'object'
  | 'array'
  | 'date'
  | 'datetime'
  | 'null'
  | (string & {});

/**
 * An entity type in code. `schema` is a flat map of field to type name, or a subset of JSON Schema.
 */
export interface DataDefinition extends Omit<EntityTypeDefinition, 'schema'> {
  /**
   * The fields of `data`: a flat map of field to type name, such as `{ price: 'number' }`, or a
   * subset of JSON Schema (`type: 'object'`, `properties`, `required`).
   */
  schema: { [field: string]: FieldType | JsonObject } | JsonObject;
}

/**
 * Defines an entity type: its fields, and the fields that full-text search reads. The result keeps
 * the literal type of the schema, from which the typed client derives the type of `data`. Throws a
 * DefinitionError.
 */
export const defineData = <const D extends DataDefinition>(
  // DataDefinition has the comments that an editor shows.
  type: D & RejectUnknown<D, DataDefinition> & DataDefinition,
): D => define('entityTypes', type) as D;

/** Makes unknown fields a compile error. A generic parameter alone would accept them. */
type RejectUnknown<D, Known> = { [K in Exclude<keyof D, keyof Known>]: never };

/**
 * Defines a role: what its holders may do, which entities they reach, and which fields are masked.
 * Throws a DefinitionError.
 */
export const defineRole = (role: RoleDefinition): RoleDefinition => define('roles', role);

/**
 * Defines a trigger: the tools that run when an entity changes, or on a schedule. Throws a
 * DefinitionError.
 */
export const defineTrigger = (trigger: TriggerDefinition): TriggerDefinition =>
  define('triggers', trigger);

/** Defines a router, which chooses the agent that answers a message. Throws a DefinitionError. */
export const defineRouter = (router: RouterDefinition): RouterDefinition =>
  define('routers', router);

/** A custom tool in code. Its handler is either a function, or source text in `handlerCode`. */
export type ToolInput<P = JsonObject> = Omit<ToolDefinition, 'handlerCode' | 'parameters'> & {
  /** JSON Schema of the arguments, with `type: "object"`. The handler's `args` has its type. */
  parameters: P;
} & (
    | { handlerCode: string; handler?: undefined }
    | { handlerCode?: undefined; handler: ToolHandler<P> }
  );

/** The sources of the handlers that were given as functions. */
const handlerSources = new WeakMap<object, string>();

/**
 * The source of the function from which `defineTools` made the handler of a tool. Null if it
 * was given as text.
 */
export const handlerSourceOf = (tool: object): string | null => handlerSources.get(tool) ?? null;

/**
 * Defines custom tools. The source of a `handler` is stored and runs in a sandbox, with the
 * variables and imports of its file that it uses: `parley push` adds them. Throws a
 * DefinitionError.
 */
export function defineTools<const P extends readonly object[]>(tools: {
  [I in keyof P]: ToolInput<P[I]>;
}): ToolDefinition[] {
  if (!Array.isArray(tools))
    throw new DefinitionError('tools', null, [{ path: '', message: 'must be a list' }]);
  return tools.map((tool) => {
    if (typeof tool?.handler !== 'function') return define('tools', tool);
    const { handler, ...rest } = tool;
    const code = handlerCodeOf(handler);
    if (code === null) {
      const message = 'must be a function written in this file, not a built-in or bound function';
      throw new DefinitionError('tools', subjectOf(tool), [{ path: 'handler', message }]);
    }
    const defined = define('tools', { ...rest, handlerCode: code });
    handlerSources.set(defined, handler.toString());
    return defined;
  });
}
