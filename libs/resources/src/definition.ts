import { type ResourceKind, type ResourceSet, resourceKinds } from '@parley/contracts';

export type Definition<K extends ResourceKind = ResourceKind> = NonNullable<ResourceSet[K]>[number];

/** What a definition is known by in its environment: tools by their name, all others by their slug. */
export const slugOf = (definition: Definition): string =>
  'slug' in definition ? definition.slug : (definition as Definition<'tools'>).name;

/** One value for each kind. */
export function forEachKind<T>(make: (kind: ResourceKind) => T): Record<ResourceKind, T> {
  return Object.fromEntries(resourceKinds.map((kind) => [kind, make(kind)])) as Record<ResourceKind, T>;
}

/** How problems and people call one resource of a kind. */
export const singular: Record<ResourceKind, string> = {
  entityTypes: 'entity type',
  roles: 'role',
  tools: 'tool',
  agents: 'agent',
  routers: 'router',
  triggers: 'trigger',
};
