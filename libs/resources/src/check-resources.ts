import { type ErrorDetail, type ResourceKind, findUnstorable, resourceKinds } from '@parley/contracts';
import { validateRole } from '@parley/permissions';
import { checkDefinition } from './check-definition';
import { type Definition, forEachKind, singular, slugOf } from './definition';
import { type ParsedResources, pathOf } from './parse-resources';
import { type Reference, isMet, referencesOf } from './references';
import type { StoredResources } from './stored-resources';

/** Types that the product makes itself when it first needs them (interface.md, Payment entity). */
const builtInEntityTypes = ['payment'];

export interface CheckInput extends Omit<ParsedResources, 'problems'> {
  stored: StoredResources;
  /** Slugs that this push deletes, by kind. */
  deleted: Record<ResourceKind, ReadonlySet<string>>;
  /** Names of the built-in tools. */
  knownTools: readonly string[];
  /** `mcp.<server>`: what tools a server has is known only when it is asked, so any below it will do. */
  mcpServers: readonly string[];
}

/**
 * Every problem of a push at once. Paths are below `resources`: `agents.0.tools.2`. References are held against what
 * the environment will hold: what is stored, without what is deleted, with what is pushed.
 */
export function checkResources(input: CheckInput): ErrorDetail[] {
  const names = namesAfter(input);
  return [
    ...resourceKinds.flatMap((kind) =>
      (input.resources[kind] ?? []).flatMap((definition: Definition, index: number) =>
        problemsOf(kind, definition, names).map(({ path, message }) => ({
          path: pathOf(kind, input.indexes[kind][index]!, path),
          message,
        })),
      ),
    ),
    ...input.remains.flatMap(({ kind, index, definition, without }) =>
      problemsOf(kind, definition, names)
        .filter(({ path }) => !without.has(path.split('.')[0]!))
        .map(({ path, message }) => ({ path: pathOf(kind, index, path), message })),
    ),
    ...duplicates(input),
    ...toolNameProblems(input, names.tools),
    ...stillNeeded(input, names),
  ];
}

type Names = Record<ResourceKind, Set<string>>;

function namesAfter({ resources, broken, stored, deleted, knownTools, mcpServers }: CheckInput): Names {
  const names: Names = forEachKind((kind) => {
    const kept = [...stored[kind].keys()].filter((slug) => !deleted[kind].has(slug));
    return new Set([...kept, ...broken[kind], ...(resources[kind] ?? []).map(slugOf)]);
  });
  for (const tool of knownTools) names.tools.add(tool);
  for (const server of mcpServers) names.tools.add(`${server}.*`);
  for (const type of builtInEntityTypes) names.entityTypes.add(type);
  return names;
}

function problemsOf(kind: ResourceKind, definition: Definition, names: Names): ErrorDetail[] {
  const unstorable = findUnstorable(definition);
  if (unstorable !== null) return [unstorable];
  // Whoever applies roles also knows what they may refer to.
  if (kind === 'roles') return validateRole(definition, names);
  const missing = referencesOf(kind, definition).filter((reference) => !isMet(reference, names));
  return [
    ...checkDefinition(kind, definition),
    ...missing.map((reference) => ({ path: reference.path, message: unknown(reference) })),
  ];
}

const unknown = ({ kinds, slug, pattern }: Reference): string => {
  const server = /^mcp\.[^.]*/.exec(slug)?.[0];
  if (server !== undefined && kinds.includes('tools')) {
    return `"${slug}" needs an MCP server that is not configured here (parley integrations set ${server})`;
  }
  return pattern
    ? `no tool matches "${slug}"`
    : `unknown ${kinds.map((kind) => singular[kind]).join(' or ')} "${slug}"`;
};

function duplicates({ resources, indexes }: CheckInput): ErrorDetail[] {
  return resourceKinds.flatMap((kind) => {
    const seen = new Set<string>();
    return (resources[kind] ?? []).flatMap((definition: Definition, index: number) => {
      const slug = slugOf(definition);
      if (!seen.has(slug)) return seen.add(slug) && [];
      const field = kind === 'tools' ? 'name' : 'slug';
      return [{ path: pathOf(kind, indexes[kind][index]!, field), message: `"${slug}" is given more than once` }];
    });
  });
}

/** Towards models the dots of a name become `_`, so two names may differ by more than that only. */
function toolNameProblems({ resources, indexes, knownTools }: CheckInput, names: Set<string>): ErrorDetail[] {
  const builtIn = new Set(knownTools);
  const byWireName = Map.groupBy(names, wireName);
  return (resources.tools ?? []).flatMap(({ name }, index) => {
    const path = pathOf('tools', indexes.tools[index]!, 'name');
    if (name.startsWith('mcp.'))
      return [{ path, message: 'may not begin with "mcp.": these are tools of MCP servers' }];
    if (builtIn.has(name)) return [{ path, message: `"${name}" is a built-in tool` }];
    const other = byWireName.get(wireName(name))?.find((candidate) => candidate !== name);
    return other === undefined ? [] : [{ path, message: `"${name}" cannot be told from "${other}" by a model` }];
  });
}

const wireName = (name: string): string => name.replaceAll('.', '_');

/** What prune would take away from resources that stay. */
function stillNeeded({ resources, broken, stored, deleted }: CheckInput, names: Names): ErrorDetail[] {
  return resourceKinds.flatMap((kind) => {
    const given = new Set([...(resources[kind] ?? []).map(slugOf), ...broken[kind]]);
    const staying = [...stored[kind].values()].filter(({ slug }) => !given.has(slug) && !deleted[kind].has(slug));
    return staying.flatMap(({ slug, definition }) =>
      referencesOf(kind, definition).flatMap((reference) => {
        const target = reference.kinds.find((candidate) => deleted[candidate].has(reference.slug));
        if (target === undefined || isMet(reference, names)) return [];
        const user = `${singular[kind]} "${slug}" (${reference.path})`;
        return [{ path: target, message: `"${reference.slug}" cannot be deleted: ${user} needs it` }];
      }),
    );
  });
}
