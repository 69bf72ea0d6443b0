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

/** What made a value, so that a loader can tell a definition from any other export. */
const kinds = new WeakMap<object, ResourceKind>();

/** The kind of a value that one of these functions made, else null. */
export const kindOf = (value: unknown): ResourceKind | null =>
  typeof value === 'object' && value !== null ? (kinds.get(value) ?? null) : null;

function define<K extends ResourceKind>(kind: K, value: object) {
  const parsed = parseDefinition(kind, value);
  if (!parsed.ok && (!isLenient || typeof value !== 'object' || value === null)) {
    throw new DefinitionError(kind, subjectOf(value), parsed.problems);
  }
  // A value with problems is only known by its kind: whoever asked for leniency looks at it again.
  const definition = (parsed.ok ? parsed.definition : value) as Extract<typeof parsed, { ok: true }>['definition'];
  kinds.set(definition, kind);
  return definition;
}

let isLenient = false;

/**
 * Runs a file that defines things, without an end at its first problem: what is wrong comes back as it was written, so
 * that a loader can tell the problems of all files together. Synchronous, as the modules that it is for.
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

/** An agent: its prompt, model and tools. */
export const defineAgent = (agent: AgentDefinition): AgentDefinition => define('agents', agent);

/** Names of types that are checked when an entity is written; any other name is your own and fits everything. */
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

/** An entity type as it is written in code; `schema` is the flat map, or the fuller JSON Schema subset. */
export interface DataDefinition extends Omit<EntityTypeDefinition, 'schema'> {
  schema: { [field: string]: FieldType | JsonObject } | JsonObject;
}

/** A type of records: its fields and what full-text search looks at. Its own type is kept, for the typed client. */
export const defineData = <const D extends DataDefinition>(type: D & NoMore<D, DataDefinition>): D =>
  define('entityTypes', type) as D;

/** A field that the definition does not know is an error of types too, although its own type is kept. */
type NoMore<D, Known> = { [K in Exclude<keyof D, keyof Known>]: never };

/** What its bearers may do, which records they see, and which fields are hidden from them. */
export const defineRole = (role: RoleDefinition): RoleDefinition => define('roles', role);

/** What runs when a record changes, or at a time. */
export const defineTrigger = (trigger: TriggerDefinition): TriggerDefinition => define('triggers', trigger);

/** Which agent answers a message. */
export const defineRouter = (router: RouterDefinition): RouterDefinition => define('routers', router);

/** A tool as it is written in code: with its handler as a function, or as the text that is stored. */
export type ToolInput = Omit<ToolDefinition, 'handlerCode'> &
  ({ handlerCode: string; handler?: undefined } | { handlerCode?: undefined; handler: ToolHandler });

/**
 * Tools of your own. A `handler` is stored as its source and runs in the sandbox, so it must be self-contained: what
 * it needs from outside comes as its parameters.
 */
export function defineTools(tools: ToolInput[]): ToolDefinition[] {
  if (!Array.isArray(tools)) throw new DefinitionError('tools', null, [{ path: '', message: 'must be a list' }]);
  return tools.map((tool) => {
    if (typeof tool?.handler !== 'function') return define('tools', tool);
    const { handler, ...rest } = tool;
    const code = handlerCodeOf(handler);
    if (code === null) {
      const message = 'must be a function written in this file, not a built-in or bound one';
      throw new DefinitionError('tools', subjectOf(tool), [{ path: 'handler', message }]);
    }
    return define('tools', { ...rest, handlerCode: code });
  });
}
