import type { JsonObject } from '@parley/client';

/**
 * The fields of definitions that these screens show (docs/reference/definitions.md). The API
 * answers with any object.
 */
export interface AgentDefinition {
  name: string;
  description?: string;
  systemPrompt: string;
  model?: AgentModel;
  tools?: string[];
  roles?: string[];
  threadContextParams?: Param[];
  language?: string;
  onFailure?: { reply?: string; handoff?: boolean };
  firstMessageSuggestions?: string[];
}

export type AgentModel =
  | string
  | {
      model: string;
      temperature?: number;
      maxTokens?: number;
      reasoning?: string;
      fallbacks?: string[];
    };

export interface Param {
  name: string;
  type: 'string' | 'number' | 'boolean' | 'object';
  required?: boolean;
  description?: string;
}

export interface Condition {
  field: string;
  operator: string;
  value: unknown;
}

export interface RouterDefinition {
  slug: string;
  name: string;
  mode: 'rules' | 'classify';
  agents: string[];
  rules?: { conditions: Condition[]; route: string }[];
  fallback: string;
  classifyModel?: string;
  contextMessages?: number;
}

export interface Policy {
  resource: string;
  actions: string[];
  effect: 'allow' | 'deny';
}
export interface ScopeRule extends Condition {
  entityType: string;
  anyOf?: string;
}
export interface FieldMask {
  entityType: string;
  fieldPath: string;
  maskType: 'hide' | 'redact';
}
export interface RoleDefinition {
  slug: string;
  name: string;
  description?: string;
  policies: Policy[];
  scopeRules?: ScopeRule[];
  fieldMasks?: FieldMask[];
}

/** A definition of the API as one of the types above. */
export const definitionOf = <Definition>({ definition }: { definition: JsonObject }): Definition =>
  definition as unknown as Definition;

export const modelName = (model: AgentModel | undefined): string | undefined =>
  typeof model === 'object' ? model.model : model;

/**
 * Whether a list of tools has a tool: by its name, its namespace (`payment.*`) or `*`, which has no
 * tools of MCP servers (docs/reference/tools.md#how-a-tool-is-called).
 */
export const listsTool = (list: readonly string[] = [], tool: string): boolean =>
  list.some(
    (pattern) =>
      pattern === tool ||
      (pattern === '*' && !tool.startsWith('mcp.')) ||
      (pattern.endsWith('.*') && tool.startsWith(pattern.slice(0, -1))),
  );

/** A value of a rule, as people read it. */
export const shownValue = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(shownValue).join(', ')
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
