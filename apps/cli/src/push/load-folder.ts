import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  type ErrorDetail,
  type ResourceKind,
  type ResourceSet,
  type ToolDefinition,
  parseDefinition,
} from '@parley/contracts';
import { handlerSourceOf, kindOf } from '@parley/definitions';
import { flatSchema } from '@parley/entities';
import { pathOf } from '../command-io';
import { usageFailure } from '../failure';
import { readTextFile } from '../read-text-file';
import { type PlaceOfLine, buildHandler, nameLine } from './build-handler';
import { loadModule } from './load-module';

/** The subfolder of each kind of definition. */
export const folders: Record<ResourceKind, string> = {
  entityTypes: 'entity-types',
  roles: 'roles',
  tools: 'tools',
  agents: 'agents',
  routers: 'routers',
  triggers: 'triggers',
};
const kinds = Object.keys(folders) as ResourceKind[];

export interface LoadedFolder {
  /**
   * Has a member for each kind that has a subfolder. Includes invalid definitions, as
   * they were written.
   */
  resources: ResourceSet;
  /** The file of each definition, in the same order. */
  files: Partial<Record<ResourceKind, string[]>>;
  /** Errors, each with its file. */
  problems: string[];
  /**
   * Files that could not be read, or only in part. Their definitions are missing from `resources`.
   */
  incomplete: string[];
  /** Kinds of which definitions may be missing for that reason. */
  incompleteKinds: Set<ResourceKind>;
  /** Probable mistakes that are allowed, each with its file. */
  warnings: string[];
  /**
   * By the name of a tool: the place of a line of its handler, from 1. Only of handlers that are
   * written as functions.
   */
  handlers: Map<string, PlaceOfLine>;
}

/** Whether a folder has a subfolder for any kind of definition. */
export const hasDefinitions = (path: string): boolean => kindsIn(pathOf(path)).length > 0;

/**
 * The kinds whose subfolder exists. A subfolder with a package.json is another package, such as
 * tools/ of a checkout of Parley.
 */
export const kindsIn = (folder: string): ResourceKind[] =>
  kinds.filter((kind) => {
    const path = join(folder, folders[kind]);
    return existsSync(path) && !existsSync(join(path, 'package.json'));
  });

/**
 * Loads the definitions in the subfolders agents/, entity-types/, roles/, routers/,
 * tools/ and triggers/.
 */
export async function loadFolder(path: string): Promise<LoadedFolder> {
  const folder = pathOf(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw usageFailure(`Folder ${path} does not exist`);
  const given = kindsIn(folder);
  if (given.length === 0) {
    throw usageFailure(
      `${path} has no definitions. Expected one of the folders ${Object.values(folders).join(', ')}. Create a project with: parley init`,
    );
  }
  const loaded: LoadedFolder = {
    resources: {},
    files: {},
    problems: [],
    incomplete: [],
    incompleteKinds: new Set(),
    warnings: [],
    handlers: new Map(),
  };
  for (const kind of given) await loadKind(loaded, folder, kind);
  return loaded;
}

async function loadKind(loaded: LoadedFolder, folder: string, kind: ResourceKind): Promise<void> {
  const definitions: object[] = [];
  const files: string[] = [];
  const results = await Promise.all(
    definitionFiles(join(folder, folders[kind])).map((file) => loadFile(file, kind)),
  );
  for (const { file, found, problems, warnings, handlers, missing } of results) {
    const name = relative(folder, file);
    loaded.warnings.push(...warnings.map((warning) => `${name}: ${warning}`));
    for (const [tool, placeOf] of handlers) loaded.handlers.set(tool, placeOf);
    if (missing.length > 0) loaded.incomplete.push(name);
    for (const one of missing) loaded.incompleteKinds.add(one);
    if (kind === 'entityTypes')
      loaded.warnings.push(
        ...found.flatMap((type) =>
          undeclaredSearchFields(type).map((warning) => `${name}: ${warning}`),
        ),
      );
    loaded.problems.push(...problems.map((problem) => `${name}: ${problem}`));
    definitions.push(...found);
    files.push(...found.map(() => name));
  }
  Object.assign(loaded.resources, { [kind]: definitions });
  loaded.files[kind] = files;
}

function definitionFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|mjs|cjs|json)$/.test(entry.name))
    .filter(({ name }) => !isIgnoredFile(name))
    .map(({ name }) => join(folder, name))
    .sort();
}

/** Helpers (`_name.ts`), declarations and tests are not definitions. */
export const isIgnoredFile = (name: string): boolean =>
  /^[._]|\.d\.ts$|\.(test|spec)\.\w+$/.test(name);

interface LoadedFile {
  file: string;
  found: object[];
  problems: string[];
  warnings: string[];
  handlers: LoadedFolder['handlers'];
  /** Kinds of definitions that could not be read from it. */
  missing: ResourceKind[];
}

async function loadFile(file: string, kind: ResourceKind): Promise<LoadedFile> {
  const loaded = file.endsWith('.json') ? loadJson(file) : await loadModule(file);
  const none = { file, found: [], warnings: [], handlers: new Map(), missing: [kind] };
  if (!loaded.ok) return { ...none, problems: loaded.message.split('\n') };
  const values = definitionsAmong(loaded.exports);
  if (values.length === 0) return { ...none, problems: [`does not export ${labels[kind]}`] };
  const found: object[] = [];
  const problems: string[] = [];
  const missing: ResourceKind[] = [];
  const warnings: string[] = [];
  const handlers: LoadedFolder['handlers'] = new Map();
  for (const value of values) {
    const made = kindOf(value);
    const parsed = made === null || made === kind ? parseDefinition(kind, value) : null;
    if (parsed === null) {
      missing.push(made!);
      problems.push(`defines ${labels[made!]}. Move it to ${folders[made!]}/`);
    } else {
      const source = kind === 'tools' ? handlerSourceOf(value as object) : null;
      if (parsed.ok && source !== null) {
        const tool = parsed.value as ToolDefinition;
        const built = await buildHandler(file, tool, loaded.placeOf(source));
        found.push({ ...tool, handlerCode: built.code });
        handlers.set(tool.name, built.placeOf);
        problems.push(...built.problems.map((problem) => `${tool.name}: ${problem}`));
        warnings.push(...built.warnings.map((warning) => `${tool.name}: ${warning}`));
        continue;
      }
      found.push(value as object);
      if (!parsed.ok)
        problems.push(...parsed.problems.map((problem) => describeProblem(value, problem)));
    }
  }
  return { file, found, problems, warnings, handlers, missing };
}

export const labels: Record<ResourceKind, string> = {
  entityTypes: 'an entity type',
  roles: 'a role',
  tools: 'a tool',
  agents: 'an agent',
  routers: 'a router',
  triggers: 'a trigger',
};

/**
 * Search fields that the schema does not declare: allowed, but usually a typing error in a type
 * that declares fields.
 */
function undeclaredSearchFields(type: object): string[] {
  const parsed = parseDefinition('entityTypes', type);
  if (!parsed.ok) return [];
  const { slug, schema, searchFields = [] } = parsed.value;
  const declared = Object.keys(flatSchema(schema));
  if (declared.length === 0) return [];
  return searchFields
    .filter((field) => !declared.includes(field) && !declared.includes(field.split('.')[0]!))
    .map((field) => `${slug}: searchFields names ${field}, which the schema does not declare`);
}

function loadJson(file: string): Awaited<ReturnType<typeof loadModule>> {
  const source = readTextFile(file);
  if (!source.ok) return { ok: false, message: source.problem };
  try {
    return {
      ok: true,
      exports: { default: JSON.parse(source.text) },
      placeOf: () => null,
    };
  } catch (error) {
    return { ok: false, message: `is not JSON: ${(error as Error).message}` };
  }
}

/**
 * The default export, and named exports that a define function returned. Other exports are ignored.
 */
function definitionsAmong(exports: Record<string, unknown>): unknown[] {
  const values = Object.entries(exports).flatMap(([name, value]) => {
    const members = Array.isArray(value) ? value : [value];
    return name === 'default' ? members : members.filter((member) => kindOf(member) !== null);
  });
  return [...new Set(values)];
}

function describeProblem(value: unknown, { path, message }: ErrorDetail): string {
  const { slug, name } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const subject = typeof slug === 'string' ? slug : typeof name === 'string' ? name : null;
  return [subject === null ? '' : `${subject}: `, path === '' ? '' : `${path} `, message].join('');
}

/**
 * Replaces the list index in the path of a server's error (`agents.0.name`) by the file of
 * that definition.
 */
export function locateProblem(
  { path, message: text }: ErrorDetail,
  { resources, files, handlers }: LoadedFolder,
): string {
  const place = /^(?:resources\.)?(\w+)\.(\d+)(?:\.(.+))?$/.exec(path);
  const kind = place?.[1] as ResourceKind | undefined;
  const index = Number(place?.[2]);
  const file = kind && files[kind]?.[index];
  const placeOf =
    kind === 'tools' ? handlers.get((resources.tools?.[index] as ToolDefinition).name) : undefined;
  const message = placeOf === undefined ? text : nameLine(text, placeOf);
  if (file === undefined) return path === '' ? message : `${path}: ${message}`;
  return `${file}: ${describeProblem(resources[kind!]![index], { path: place![3] ?? '', message })}`;
}
