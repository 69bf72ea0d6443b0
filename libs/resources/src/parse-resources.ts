import {
  type ErrorDetail,
  type RawResourceSet,
  type ResourceKind,
  type ResourceSet,
  parseDefinition,
  resourceKinds,
} from '@parley/contracts';
import { type Definition, forEachKind } from './definition';
import type { PushBudget } from './push-budget';

export interface ParsedResources {
  /** The definitions with a valid shape, by given kind. */
  resources: ResourceSet;
  /** The index of each of them in the given list. */
  indexes: Record<ResourceKind, number[]>;
  /**
   * Slugs of the definitions with an invalid shape. They count as present: references to
   * them are no problem.
   */
  invalidSlugs: Record<ResourceKind, ReadonlySet<string>>;
  /**
   * The definitions with an invalid shape, without the invalid fields, so that their other
   * fields can be checked.
   */
  partials: PartialDefinition[];
  /** The problems of shape. Paths begin with kind and index: `agents.0.tools.2`. */
  problems: ErrorDetail[];
}

export interface PartialDefinition {
  kind: ResourceKind;
  index: number;
  definition: Definition;
  /** The invalid fields. They hold placeholders, so problems of them are not reported. */
  omitted: ReadonlySet<string>;
}

/**
 * Parses each definition on its own, so that an invalid one does not hide the
 * problems of the others.
 */
export async function parseResources(
  raw: RawResourceSet,
  budget: PushBudget,
): Promise<ParsedResources> {
  const problems: ErrorDetail[] = [];
  const partials: PartialDefinition[] = [];
  const resources: Record<string, Definition[]> = {};
  const indexes = forEachKind((): number[] => []);
  const invalidSlugs = forEachKind(() => new Set<string>());
  for (const kind of resourceKinds) {
    if (raw[kind] === undefined) continue;
    const found: Definition[] = (resources[kind] = []);
    for (const [index, value] of raw[kind].entries()) {
      const parsed = parseDefinition(kind, value);
      if (parsed.ok) {
        // The given value, because the parsed one has its keys in another order.
        found.push(value as Definition);
        indexes[kind].push(index);
      } else {
        const name = slugIn(kind, value);
        if (name !== null) invalidSlugs[kind].add(name);
        const rest = withoutInvalidFields(kind, value, parsed.problems);
        if (rest !== null) partials.push({ kind, index, ...rest });
        for (const { path, message } of parsed.problems)
          problems.push({ path: pathOf(kind, index, path), message });
      }
      await budget.pause();
    }
  }
  return { resources: resources as ResourceSet, indexes, invalidSlugs, partials, problems };
}

/** Values for required fields whose own value is invalid. */
const placeholders: Record<ResourceKind, object> = {
  entityTypes: { slug: 'x', name: 'x', schema: {} },
  roles: { slug: 'x', name: 'x', policies: [] },
  tools: { name: 'x', description: 'x', parameters: {}, handlerCode: 'x' },
  agents: { slug: 'x', name: 'x', systemPrompt: '' },
  routers: { slug: 'x', name: 'x', mode: 'rules', agents: ['x'], fallback: 'x' },
  triggers: {
    slug: 'x',
    name: 'x',
    on: { entityType: 'x', action: 'created' },
    actions: [{ tool: 'x', args: {} }],
  },
};

function withoutInvalidFields(
  kind: ResourceKind,
  value: unknown,
  problems: ErrorDetail[],
): Pick<PartialDefinition, 'definition' | 'omitted'> | null {
  if (typeof value !== 'object' || value === null) return null;
  const omitted = new Set(problems.map(({ path }) => path.split('.')[0]!));
  const kept = Object.entries(value).filter(([name]) => !omitted.has(name));
  const parsed = parseDefinition(kind, { ...placeholders[kind], ...Object.fromEntries(kept) });
  return parsed.ok ? { definition: parsed.value, omitted } : null;
}

export const pathOf = (kind: ResourceKind, index: number, path: string): string =>
  path === '' ? `${kind}.${index}` : `${kind}.${index}.${path}`;

function slugIn(kind: ResourceKind, value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const name: unknown = Reflect.get(value, kind === 'tools' ? 'name' : 'slug');
  return typeof name === 'string' ? name : null;
}
