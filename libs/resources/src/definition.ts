import { type ResourceKind, type ResourceSet, resourceKinds } from '@parley/contracts';

export type Definition<K extends ResourceKind = ResourceKind> = NonNullable<ResourceSet[K]>[number];

/**
 * The identifier of a definition in its environment: the name of a tool, the slug of
 * any other kind.
 */
export const slugOf = (definition: Definition): string =>
  'slug' in definition ? definition.slug : (definition as Definition<'tools'>).name;

/** Computes one value for each kind. */
export function forEachKind<T>(make: (kind: ResourceKind) => T): Record<ResourceKind, T> {
  return Object.fromEntries(resourceKinds.map((kind) => [kind, make(kind)])) as Record<
    ResourceKind,
    T
  >;
}

/** The singular noun of each kind, for messages. */
export const singular: Record<ResourceKind, string> = {
  entityTypes: 'entity type',
  roles: 'role',
  tools: 'tool',
  agents: 'agent',
  routers: 'router',
  triggers: 'trigger',
};
