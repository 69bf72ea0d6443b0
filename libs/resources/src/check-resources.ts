import {
  type ErrorDetail,
  type ResourceKind,
  findUnstorable,
  resourceKinds,
  systemRunAs,
} from '@parley/contracts';
import { validateRole } from '@parley/permissions';
import { checkDefinition } from './check-definition';
import { type Definition, forEachKind, singular, slugOf } from './definition';
import { type ParsedResources, pathOf } from './parse-resources';
import type { PushBudget } from './push-budget';
import { type Reference, isResolved, referencesOf } from './references';
import type { StoredResources } from './stored-resources';

/**
 * Entity types that are created when they are first used
 * (docs/reference/payments.md#payment-entity).
 */
const builtInEntityTypes = ['payment'];

export interface CheckInput extends Omit<ParsedResources, 'problems'> {
  stored: StoredResources;
  /** Slugs that this push deletes, by kind. */
  deleted: Record<ResourceKind, ReadonlySet<string>>;
  /** Names of the built-in tools. */
  knownTools: readonly string[];
  /**
   * `mcp.<server>` of each configured server. The tools of a server are not known here, so any name
   * below it is accepted.
   */
  mcpServers: readonly string[];
}

/**
 * Every problem of a push beyond the shape of its definitions. Paths are relative to `resources`:
 * `agents.0.tools.2`. References are checked against the environment after the push: the stored
 * definitions without the deleted ones, and the pushed ones.
 */
export async function checkResources(
  input: CheckInput,
  budget: PushBudget,
): Promise<ErrorDetail[]> {
  const names = namesAfter(input);
  const problems: ErrorDetail[] = [];
  const check = async (
    kind: ResourceKind,
    index: number,
    definition: Definition,
    omitted?: ReadonlySet<string>,
  ) => {
    const stored = input.stored[kind].get(slugOf(definition))?.definition;
    for (const { path, message } of problemsOf(kind, definition, names, stored))
      if (!omitted?.has(path.split('.')[0]!))
        problems.push({ path: pathOf(kind, index, path), message });
    await budget.pause();
  };
  for (const kind of resourceKinds)
    for (const [at, definition] of (input.resources[kind] ?? []).entries())
      await check(kind, input.indexes[kind][at]!, definition);
  for (const { kind, index, definition, omitted } of input.partials)
    await check(kind, index, definition, omitted);
  return [
    ...problems,
    ...duplicates(input),
    ...toolNameProblems(input, names.tools),
    ...runAsProblems(input, names.roles),
    ...danglingReferences(input, names),
  ];
}

type Names = Record<ResourceKind, Set<string>>;

function namesAfter({
  resources,
  invalidSlugs,
  stored,
  deleted,
  knownTools,
  mcpServers,
}: CheckInput): Names {
  const names: Names = forEachKind((kind) => {
    const kept = [...stored[kind].keys()].filter((slug) => !deleted[kind].has(slug));
    return new Set([...kept, ...invalidSlugs[kind], ...(resources[kind] ?? []).map(slugOf)]);
  });
  for (const tool of knownTools) names.tools.add(tool);
  for (const server of mcpServers) names.tools.add(`${server}.*`);
  for (const type of builtInEntityTypes) names.entityTypes.add(type);
  return names;
}

function problemsOf(
  kind: ResourceKind,
  definition: Definition,
  names: Names,
  stored?: Definition,
): ErrorDetail[] {
  const unstorable = findUnstorable(definition);
  if (unstorable !== null) return [unstorable];
  // libs/permissions also checks the references of roles.
  if (kind === 'roles') return validateRole(definition, names);
  const missing = referencesOf(kind, definition).filter(
    (reference) => !isResolved(reference, names),
  );
  return [
    ...checkDefinition(kind, definition, stored),
    ...missing.map((reference) => ({ path: reference.path, message: unknown(reference) })),
  ];
}

const unknown = ({ kinds, slug, pattern }: Reference): string => {
  const server = /^mcp\.[^.]*/.exec(slug)?.[0];
  if (server !== undefined && kinds.includes('tools')) {
    return `"${slug}" requires an MCP server that is not configured in this environment (parley integrations set ${server})`;
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
      return [
        {
          path: pathOf(kind, indexes[kind][index]!, field),
          message: `"${slug}" is given more than once`,
        },
      ];
    });
  });
}

/**
 * Models receive tool names with `_` instead of dots, so two names must not differ only in that.
 */
function toolNameProblems(
  { resources, indexes, knownTools }: CheckInput,
  names: Set<string>,
): ErrorDetail[] {
  const builtIn = new Set(knownTools);
  const byWireName = Map.groupBy(names, wireName);
  return (resources.tools ?? []).flatMap(({ name }, index) => {
    const path = pathOf('tools', indexes.tools[index]!, 'name');
    if (name.startsWith('mcp.'))
      return [{ path, message: 'may not begin with "mcp.": these are tools of MCP servers' }];
    if (builtIn.has(name)) return [{ path, message: `"${name}" is a built-in tool` }];
    const other = byWireName.get(wireName(name))?.find((candidate) => candidate !== name);
    return other === undefined
      ? []
      : [{ path, message: `"${name}" and "${other}" are the same name for a model` }];
  });
}

/** A role with the slug of the system's `runAs` would have other rights than its author expects. */
function runAsProblems(
  { resources, indexes }: CheckInput,
  roles: ReadonlySet<string>,
): ErrorDetail[] {
  if (!roles.has(systemRunAs)) return [];
  return (resources.tools ?? []).flatMap(({ runAs }, index) =>
    runAs === systemRunAs
      ? [
          {
            path: pathOf('tools', indexes.tools[index]!, 'runAs'),
            message: `"${systemRunAs}" means the system, but a role has this slug: rename the role`,
          },
        ]
      : [],
  );
}

const wireName = (name: string): string => name.replaceAll('.', '_');

/** References from definitions that stay to definitions that prune would delete. */
function danglingReferences(
  { resources, invalidSlugs, stored, deleted }: CheckInput,
  names: Names,
): ErrorDetail[] {
  return resourceKinds.flatMap((kind) => {
    const given = new Set([...(resources[kind] ?? []).map(slugOf), ...invalidSlugs[kind]]);
    const kept = [...stored[kind].values()].filter(
      ({ slug }) => !given.has(slug) && !deleted[kind].has(slug),
    );
    return kept.flatMap(({ slug, definition }) =>
      referencesOf(kind, definition).flatMap((reference) => {
        const target = reference.kinds.find((candidate) => deleted[candidate].has(reference.slug));
        if (target === undefined || isResolved(reference, names)) return [];
        const user = `${singular[kind]} "${slug}" (${reference.path})`;
        return [
          { path: target, message: `"${reference.slug}" cannot be deleted: it is used by ${user}` },
        ];
      }),
    );
  });
}
