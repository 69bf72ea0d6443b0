import { type Json, type ResourceKind, systemRunAs } from '@parley/contracts';
import { templateNodes } from '@parley/tools';
import type { Definition } from './definition';

/** A reference from one definition to another. `path` is relative to the definition. */
export interface Reference {
  path: string;
  /**
   * The kinds in which the slug is looked up. The resource of a policy may be an
   * entity type or a tool.
   */
  kinds: readonly ResourceKind[];
  slug: string;
  /** The slug is a pattern: `orders.*` matches every name below it, `*` every name. */
  pattern?: boolean;
}

const isPattern = (name: string): boolean => name === '*' || name.endsWith('.*');

/** The `references` of fields that hold ids of entities, at any depth of the schema. */
function schemaReferences(schema: Json, path: string): Reference[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    const here = `${path}.${name}`;
    // In a flat map, `references` may be the name of a field. Its value is then a type
    // name, not a slug.
    if (
      name === 'references' &&
      path !== 'schema' &&
      !path.endsWith('.properties') &&
      typeof inner === 'string'
    ) {
      return [refer(here, 'entityTypes', inner)];
    }
    return schemaReferences(inner, here);
  });
}

const refer = (path: string, kind: ResourceKind, slug: string): Reference => ({
  path,
  kinds: [kind],
  slug,
});

const agentReferences = ({ tools = [], roles = [] }: Definition<'agents'>): Reference[] => [
  ...tools.map((slug, index) => ({
    ...refer(`tools.${index}`, 'tools', slug),
    pattern: isPattern(slug),
  })),
  ...roles.map((slug, index) => refer(`roles.${index}`, 'roles', slug)),
];

const routerReferences = ({ agents, rules = [], fallback }: Definition<'routers'>): Reference[] => [
  ...agents.map((slug, index) => refer(`agents.${index}`, 'agents', slug)),
  ...rules.flatMap(({ conditions, route }, rule) => [
    ...conditions.map(({ field }, index) =>
      refer(`rules.${rule}.conditions.${index}.field`, 'entityTypes', field.split('.')[0]!),
    ),
    refer(`rules.${rule}.route`, 'agents', route),
  ]),
  refer('fallback', 'agents', fallback),
];

const relatedIds = 'actor.relatedIds:';

const roleReferences = ({
  policies,
  scopeRules = [],
  fieldMasks = [],
}: Definition<'roles'>): Reference[] => [
  ...policies.map(({ resource }, index) => ({
    path: `policies.${index}.resource`,
    kinds: ['entityTypes', 'tools'] as const,
    slug: resource,
    pattern: isPattern(resource),
  })),
  ...scopeRules.flatMap(({ entityType, value }, index) => [
    refer(`scopeRules.${index}.entityType`, 'entityTypes', entityType),
    ...(typeof value === 'string' && value.startsWith(relatedIds)
      ? [refer(`scopeRules.${index}.value`, 'entityTypes', value.slice(relatedIds.length))]
      : []),
  ]),
  ...fieldMasks.map(({ entityType }, index) =>
    refer(`fieldMasks.${index}.entityType`, 'entityTypes', entityType),
  ),
];

const triggerReferences = ({ on, actions }: Definition<'triggers'>): Reference[] => [
  ...('entityType' in on ? [refer('on.entityType', 'entityTypes', on.entityType)] : []),
  ...actions.flatMap(({ tool, args }, index) => [
    refer(`actions.${index}.tool`, 'tools', tool),
    ...templateNodes(args).flatMap((node) =>
      node.kind === 'call' ? [refer(`actions.${index}.args`, 'tools', node.name)] : [],
    ),
  ]),
];

const finders: { [K in ResourceKind]: (definition: Definition<K>) => Reference[] } = {
  entityTypes: ({ schema }) => schemaReferences(schema, 'schema'),
  roles: roleReferences,
  tools: ({ runAs }) =>
    runAs === undefined || runAs === systemRunAs ? [] : [refer('runAs', 'roles', runAs)],
  agents: agentReferences,
  routers: routerReferences,
  triggers: triggerReferences,
};

/** The references of a definition to other definitions. */
export const referencesOf = (kind: ResourceKind, definition: Definition): Reference[] =>
  (finders[kind] as (definition: Definition) => Reference[])(definition);

type Names = Record<ResourceKind, ReadonlySet<string>>;

/**
 * Whether a reference names or matches one of these names. The name `mcp.crm.*` includes every
 * tool of that server.
 */
export function isResolved({ kinds, slug, pattern }: Reference, names: Names): boolean {
  if (slug === '*' && pattern) return true;
  if (kinds.some((kind) => names[kind].has(slug))) return true;
  return kinds.some((kind) =>
    pattern
      ? namespacesOf(names[kind]).has(slug.slice(0, -1))
      : prefixesOf(slug).some((prefix) => names[kind].has(`${prefix}*`)),
  );
}

/** The beginnings of a name up to each dot: `mcp.` and `mcp.crm.` of `mcp.crm.find`. */
const prefixesOf = (name: string): string[] =>
  [...name.matchAll(/\./g)].map(({ index }) => name.slice(0, index + 1));

const namespaces = new WeakMap<ReadonlySet<string>, Set<string>>();

/**
 * The beginnings of all names. Computed once, because a push may contain 100,000
 * references to 1,000 names.
 */
function namespacesOf(names: ReadonlySet<string>): Set<string> {
  const known = namespaces.get(names) ?? new Set([...names].flatMap(prefixesOf));
  namespaces.set(names, known);
  return known;
}
