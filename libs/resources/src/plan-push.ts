import { type ResourceKind, canonicalJson, resourceKinds, paymentType } from '@parley/contracts';
import { type Definition, slugOf } from './definition';
import type { ParsedResources } from './parse-resources';
import { type StoredResources, handlerHash } from './stored-resources';

/** The changes of a push to one kind. */
interface KindPlan {
  created: Definition[];
  updated: Definition[];
  unchanged: string[];
  /**
   * Slugs that are stored but not given: prune may delete them. Without the type of payments, which
   * Parley itself creates.
   */
  absent: string[];
}

export type Plan = Partial<Record<ResourceKind, KindPlan>>;

type PlanInput = Pick<ParsedResources, 'resources' | 'invalidSlugs'>;

/** Compares the pushed definitions with the stored ones. The plan has only the given kinds. */
export function planPush({ resources, invalidSlugs }: PlanInput, stored: StoredResources): Plan {
  const plan: Plan = {};
  for (const kind of resourceKinds) {
    const given = resources[kind];
    if (given !== undefined) plan[kind] = planKind(kind, given, invalidSlugs[kind], stored[kind]);
  }
  return plan;
}

function planKind(
  kind: ResourceKind,
  given: Definition[],
  invalidSlugs: ReadonlySet<string>,
  stored: StoredResources[ResourceKind],
): KindPlan {
  const plan: KindPlan = { created: [], updated: [], unchanged: [], absent: [] };
  for (const definition of given) {
    const before = stored.get(slugOf(definition));
    if (before === undefined) plan.created.push(definition);
    else if (comparable(kind, before.definition) === comparable(kind, asStored(kind, definition)))
      plan.unchanged.push(before.slug);
    else plan.updated.push(definition);
  }
  const slugs = new Set(given.map(slugOf));
  plan.absent = [...stored.keys()].filter(
    (slug) =>
      !slugs.has(slug) &&
      !invalidSlugs.has(slug) &&
      !(kind === 'entityTypes' && slug === paymentType),
  );
  return plan;
}

/** A definition in the form in which `readStoredResources` returns it. */
function asStored(kind: ResourceKind, definition: Definition): Definition {
  if (kind !== 'tools') return definition;
  const tool = definition as Definition<'tools'>;
  return { ...tool, handlerCode: handlerHash(tool.handlerCode) };
}

/**
 * Canonical text for the comparison. An entity type with an empty list of search fields equals one
 * without the list.
 */
function comparable(kind: ResourceKind, definition: Definition): string {
  if (kind !== 'entityTypes') return canonicalJson(definition);
  const { searchFields, ...rest } = definition as Definition<'entityTypes'>;
  return canonicalJson(searchFields?.length ? { ...rest, searchFields } : rest);
}
