import { type ResourceKind, canonicalJson, resourceKinds } from '@parley/contracts';
import { type Definition, slugOf } from './definition';
import type { ParsedResources } from './parse-resources';
import type { StoredResources } from './stored-resources';

/** What a push does to one kind. */
interface KindPlan {
  created: Definition[];
  updated: Definition[];
  unchanged: string[];
  /** Candidates of prune. */
  absent: string[];
}

export type Plan = Partial<Record<ResourceKind, KindPlan>>;

type PlanInput = Pick<ParsedResources, 'resources' | 'broken'>;

/** Compares what is pushed with what is stored; kinds that are not given are not in the plan. */
export function planPush({ resources, broken }: PlanInput, stored: StoredResources): Plan {
  const plan: Plan = {};
  for (const kind of resourceKinds) {
    const given = resources[kind];
    if (given !== undefined) plan[kind] = planKind(kind, given, broken[kind], stored[kind]);
  }
  return plan;
}

function planKind(
  kind: ResourceKind,
  given: Definition[],
  broken: ReadonlySet<string>,
  stored: StoredResources[ResourceKind],
): KindPlan {
  const plan: KindPlan = { created: [], updated: [], unchanged: [], absent: [] };
  for (const definition of given) {
    const before = stored.get(slugOf(definition));
    if (before === undefined) plan.created.push(definition);
    else if (comparable(kind, before.definition) === comparable(kind, definition)) plan.unchanged.push(before.slug);
    else plan.updated.push(definition);
  }
  const slugs = new Set(given.map(slugOf));
  plan.absent = [...stored.keys()].filter((slug) => !slugs.has(slug) && !broken.has(slug));
  return plan;
}

/** An entity type without search fields and one with none are the same type. */
function comparable(kind: ResourceKind, definition: Definition): string {
  if (kind !== 'entityTypes') return canonicalJson(definition);
  const { searchFields, ...rest } = definition as Definition<'entityTypes'>;
  return canonicalJson(searchFields?.length ? { ...rest, searchFields } : rest);
}
