import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { type ErrorDetail, type ResourceKind, type ResourceSet, parseDefinition } from '@parley/contracts';
import { kindOf } from '@parley/definitions';
import { flatSchema } from '@parley/entities';
import { usageFailure } from '../failure';
import { loadModule } from './load-module';

/** Where each kind is found below the folder that is pushed. */
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
  /** Only the kinds that the folder has a folder for; what has a wrong shape is among them, as it was written. */
  resources: ResourceSet;
  /** The file of each definition, in the same order. */
  files: Partial<Record<ResourceKind, string[]>>;
  /** Everything that is wrong, each with its file. */
  problems: string[];
  /** Files that could not be read, or not all of their definitions: what they define is missing. */
  incomplete: string[];
  /** Of which kinds something may be missing for that reason. */
  incompleteKinds: Set<ResourceKind>;
  /** What is allowed and probably not meant, each with its file. */
  doubts: string[];
}

/** Whether a folder has any of the folders of definitions. */
export const hasDefinitions = (path: string): boolean =>
  Object.values(folders).some((name) => existsSync(join(resolve(path), name)));

/** Loads every definition below a folder: agents/, entity-types/, roles/, triggers/, routers/ and tools/. */
export async function loadFolder(path: string): Promise<LoadedFolder> {
  const folder = resolve(path);
  if (!existsSync(folder) || !statSync(folder).isDirectory()) throw usageFailure(`There is no folder ${path}`);
  const given = kinds.filter((kind) => existsSync(join(folder, folders[kind])));
  if (given.length === 0) {
    throw usageFailure(`${path} has none of the folders ${Object.values(folders).join(', ')}`);
  }
  const loaded: LoadedFolder = {
    resources: {},
    files: {},
    problems: [],
    incomplete: [],
    incompleteKinds: new Set(),
    doubts: [],
  };
  for (const kind of given) await loadKind(loaded, folder, kind);
  return loaded;
}

async function loadKind(loaded: LoadedFolder, folder: string, kind: ResourceKind): Promise<void> {
  const definitions: object[] = [];
  const files: string[] = [];
  const results = await Promise.all(definitionFiles(join(folder, folders[kind])).map((file) => loadFile(file, kind)));
  for (const { file, found, problems, missing } of results) {
    const name = relative(folder, file);
    if (missing.length > 0) loaded.incomplete.push(name);
    for (const one of missing) loaded.incompleteKinds.add(one);
    if (kind === 'entityTypes')
      loaded.doubts.push(...found.flatMap((type) => undeclaredSearchFields(type).map((doubt) => `${name}: ${doubt}`)));
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
    .filter(({ name }) => !isNoDefinition(name))
    .map(({ name }) => join(folder, name))
    .sort();
}

/** Helpers, declarations and tests beside definitions. */
export const isNoDefinition = (name: string): boolean => /^[._]|\.d\.ts$|\.(test|spec)\.\w+$/.test(name);

interface LoadedFile {
  file: string;
  found: object[];
  problems: string[];
  /** Kinds of what could not be taken from it. */
  missing: ResourceKind[];
}

async function loadFile(file: string, kind: ResourceKind): Promise<LoadedFile> {
  const loaded = file.endsWith('.json') ? loadJson(file) : await loadModule(file);
  const none = { file, found: [], missing: [kind] };
  if (!loaded.ok) return { ...none, problems: loaded.message.split('\n') };
  const values = definitionsAmong(loaded.exports);
  if (values.length === 0) return { ...none, problems: [`exports no definition of ${labels[kind]}`] };
  const found: object[] = [];
  const problems: string[] = [];
  const missing: ResourceKind[] = [];
  for (const value of values) {
    const made = kindOf(value);
    const parsed = made === null || made === kind ? parseDefinition(kind, value) : null;
    if (parsed === null) {
      missing.push(made!);
      problems.push(`defines ${labels[made!]}, which belongs into ${folders[made!]}/`);
    } else {
      found.push(value as object);
      if (!parsed.ok) problems.push(...parsed.problems.map((problem) => describeProblem(value, problem)));
    }
  }
  return { file, found, problems, missing };
}

export const labels: Record<ResourceKind, string> = {
  entityTypes: 'an entity type',
  roles: 'a role',
  tools: 'a tool',
  agents: 'an agent',
  routers: 'a router',
  triggers: 'a trigger',
};

/** Undeclared fields are allowed, so they may be searched; of a type that declares its fields it is mostly a slip. */
function undeclaredSearchFields(type: object): string[] {
  const parsed = parseDefinition('entityTypes', type);
  if (!parsed.ok) return [];
  const { slug, schema, searchFields = [] } = parsed.definition;
  const declared = Object.keys(flatSchema(schema));
  if (declared.length === 0) return [];
  return searchFields
    .filter((field) => !declared.includes(field) && !declared.includes(field.split('.')[0]!))
    .map((field) => `${slug}: searchFields names ${field}, which the schema does not declare`);
}

function loadJson(file: string): Awaited<ReturnType<typeof loadModule>> {
  try {
    return { ok: true, exports: { default: JSON.parse(readFileSync(file, 'utf8')) } };
  } catch (error) {
    return { ok: false, message: `is not JSON: ${(error as Error).message}` };
  }
}

/** The default export and whatever a define function has made; other exports are the file's own business. */
function definitionsAmong(exports: Record<string, unknown>): unknown[] {
  const values = Object.entries(exports).flatMap(([name, value]) => {
    const members = Array.isArray(value) ? value : [value];
    return name === 'default' ? members : members.filter((member) => kindOf(member) !== null);
  });
  return [...new Set(values)];
}

function describeProblem(value: unknown, { path, message }: ErrorDetail): string {
  const { slug, name } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const subject = typeof slug === 'string' ? slug : typeof name === 'string' ? name : null;
  return [subject === null ? '' : `${subject}: `, path === '' ? '' : `${path} `, message].join('');
}

/** A problem that the server found, named by the file it is in: its paths count through the lists of the push. */
export function locateProblem({ path, message }: ErrorDetail, { resources, files }: LoadedFolder): string {
  const place = /^(?:resources\.)?(\w+)\.(\d+)(?:\.(.+))?$/.exec(path);
  const kind = place?.[1] as ResourceKind | undefined;
  const index = Number(place?.[2]);
  const file = kind && files[kind]?.[index];
  if (file === undefined) return path === '' ? message : `${path}: ${message}`;
  return `${file}: ${describeProblem(resources[kind!]![index], { path: place![3] ?? '', message })}`;
}
