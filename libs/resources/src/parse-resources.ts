import {
  type ErrorDetail,
  type RawResourceSet,
  type ResourceKind,
  type ResourceSet,
  parseDefinition,
  resourceKinds,
} from '@parley/contracts';
import { type Definition, forEachKind } from './definition';

export interface ParsedResources {
  /** The definitions whose shape is right, of the kinds that are given. */
  resources: ResourceSet;
  /** Where each of them stands in the list that was given. */
  indexes: Record<ResourceKind, number[]>;
  /** What the others are called: they are wrong, not absent. */
  broken: Record<ResourceKind, ReadonlySet<string>>;
  /** What is left of the others without the fields that are wrong, so that the rest of them is checked all the same. */
  remains: Remains[];
  /** What is wrong with their shape; paths begin with kind and index: `agents.0.tools.2`. */
  problems: ErrorDetail[];
}

export interface Remains {
  kind: ResourceKind;
  index: number;
  definition: Definition;
  /** The fields that were left out: what is said of them would be about a stand-in. */
  without: ReadonlySet<string>;
}

/** Looks at each definition by itself, so that one that is wrong hides nothing of the others. */
export function parseResources(raw: RawResourceSet): ParsedResources {
  const problems: ErrorDetail[] = [];
  const remains: Remains[] = [];
  const resources: Record<string, Definition[]> = {};
  const indexes = forEachKind((): number[] => []);
  const broken = forEachKind(() => new Set<string>());
  for (const kind of resourceKinds) {
    if (raw[kind] === undefined) continue;
    const found: Definition[] = (resources[kind] = []);
    for (const [index, value] of raw[kind].entries()) {
      const parsed = parseDefinition(kind, value);
      if (parsed.ok) {
        // As it was given: parsing would put its keys into another order.
        found.push(value as Definition);
        indexes[kind].push(index);
      } else {
        const name = nameOf(kind, value);
        if (name !== null) broken[kind].add(name);
        const rest = withoutWrong(kind, value, parsed.problems);
        if (rest !== null) remains.push({ kind, index, ...rest });
        problems.push(...parsed.problems.map(({ path, message }) => ({ path: pathOf(kind, index, path), message })));
      }
    }
  }
  return { resources: resources as ResourceSet, indexes, broken, remains, problems };
}

/** What a field that must be there is when its own value is wrong. */
const standIns: Record<ResourceKind, object> = {
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

function withoutWrong(
  kind: ResourceKind,
  value: unknown,
  problems: ErrorDetail[],
): Pick<Remains, 'definition' | 'without'> | null {
  if (typeof value !== 'object' || value === null) return null;
  const without = new Set(problems.map(({ path }) => path.split('.')[0]!));
  const kept = Object.entries(value).filter(([name]) => !without.has(name));
  const parsed = parseDefinition(kind, { ...standIns[kind], ...Object.fromEntries(kept) });
  return parsed.ok ? { definition: parsed.definition, without } : null;
}

export const pathOf = (kind: ResourceKind, index: number, path: string): string =>
  path === '' ? `${kind}.${index}` : `${kind}.${index}.${path}`;

function nameOf(kind: ResourceKind, value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const name: unknown = Reflect.get(value, kind === 'tools' ? 'name' : 'slug');
  return typeof name === 'string' ? name : null;
}
