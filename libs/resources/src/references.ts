import type { Json, ResourceKind } from '@parley/contracts';
import type { Definition } from './definition';

/** That a definition names another resource; `path` is inside the definition. */
export interface Reference {
  path: string;
  /** A policy's resource may be of either of two kinds. */
  kinds: readonly ResourceKind[];
  slug: string;
  /** `orders.*` is met by any name below it, `*` by all. */
  pattern?: boolean;
}

const isPattern = (name: string): boolean => name === '*' || name.endsWith('.*');

/** Every other resource that a definition needs. */
export function referencesOf(kind: ResourceKind, definition: Definition): Reference[] {
  switch (kind) {
    case 'agents':
      return ofAgent(definition as Definition<'agents'>);
    case 'routers':
      return ofRouter(definition as Definition<'routers'>);
    case 'roles':
      return ofRole(definition as Definition<'roles'>);
    case 'triggers':
      return ofTrigger(definition as Definition<'triggers'>);
    case 'entityTypes':
      return ofSchema((definition as Definition<'entityTypes'>).schema, 'schema');
    case 'tools':
      return [];
  }
}

/** Fields that hold the id of an entity say of which type, at any depth. */
function ofSchema(schema: Json, path: string): Reference[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, inner]) => {
    const here = `${path}.${name}`;
    // In the flat map `references` may also be the name of a field: its type name is then no slug to look for.
    if (name === 'references' && path !== 'schema' && !path.endsWith('.properties') && typeof inner === 'string') {
      return [{ path: here, kinds: ['entityTypes'] as const, slug: inner }];
    }
    return ofSchema(inner, here);
  });
}

const ofAgent = ({ tools = [], roles = [] }: Definition<'agents'>): Reference[] => [
  ...tools.map((slug, index) => ({
    path: `tools.${index}`,
    kinds: ['tools'] as const,
    slug,
    pattern: isPattern(slug),
  })),
  ...roles.map((slug, index) => ({ path: `roles.${index}`, kinds: ['roles'] as const, slug })),
];

const ofRouter = ({ agents, rules = [], fallback }: Definition<'routers'>): Reference[] => [
  ...agents.map((slug, index) => ({ path: `agents.${index}`, kinds: ['agents'] as const, slug })),
  ...rules.flatMap(({ conditions, route }, rule) => [
    ...conditions.map(({ field }, index) => ({
      path: `rules.${rule}.conditions.${index}.field`,
      kinds: ['entityTypes'] as const,
      slug: field.split('.')[0]!,
    })),
    { path: `rules.${rule}.route`, kinds: ['agents'] as const, slug: route },
  ]),
  { path: 'fallback', kinds: ['agents'], slug: fallback },
];

const relatedIds = 'actor.relatedIds:';

const ofRole = ({ policies, scopeRules = [], fieldMasks = [] }: Definition<'roles'>): Reference[] => [
  ...policies.map(({ resource }, index) => ({
    path: `policies.${index}.resource`,
    kinds: ['entityTypes', 'tools'] as const,
    slug: resource,
    pattern: isPattern(resource),
  })),
  ...scopeRules.flatMap(({ entityType, value }, index): Reference[] => [
    { path: `scopeRules.${index}.entityType`, kinds: ['entityTypes'], slug: entityType },
    ...(typeof value === 'string' && value.startsWith(relatedIds)
      ? [{ path: `scopeRules.${index}.value`, kinds: ['entityTypes'] as const, slug: value.slice(relatedIds.length) }]
      : []),
  ]),
  ...fieldMasks.map(({ entityType }, index) => ({
    path: `fieldMasks.${index}.entityType`,
    kinds: ['entityTypes'] as const,
    slug: entityType,
  })),
];

const ofTrigger = ({ on, actions }: Definition<'triggers'>): Reference[] => [
  ...('entityType' in on ? [{ path: 'on.entityType', kinds: ['entityTypes'] as const, slug: on.entityType }] : []),
  ...actions.map(({ tool }, index) => ({ path: `actions.${index}.tool`, kinds: ['tools'] as const, slug: tool })),
];

/** Whether a reference is met by one of these names, of which `mcp.crm.*` stands for whatever a server has. */
export function isMet({ kinds, slug, pattern }: Reference, names: Record<ResourceKind, ReadonlySet<string>>): boolean {
  if (slug === '*' && pattern) return true;
  if (kinds.some((kind) => names[kind].has(slug))) return true;
  const ofServer = (name: string) => name.endsWith('.*') && slug.startsWith(name.slice(0, -1));
  return kinds.some((kind) =>
    [...names[kind]].some((name) => (pattern ? name.startsWith(slug.slice(0, -1)) : ofServer(name))),
  );
}
