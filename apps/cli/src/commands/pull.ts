import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ResourceKind, type SyncPull, resourceKinds } from '@parley/contracts';
import { createApi } from '../api';
import { exitCodes } from '../failure';
import { writeDefinition } from '../pull/write-definition';
import { type LoadedFolder, folders, hasDefinitions, loadFolder } from '../push/load-folder';
import { safeLine } from '../safe-text';
import { colors, note, print, printJson } from '../terminal';

export interface PullOptions {
  force?: boolean;
  json?: boolean;
}

type Outcome = 'written' | 'unchanged' | 'kept';

interface Pulled {
  kind: ResourceKind;
  slug: string;
  file: string;
  outcome: Outcome;
}

/**
 * `parley pull [folder]`: writes what the environment has and the folder does not, one file for each definition. A
 * definition that differs is left to you, unless `--force` is given: then its file is replaced. Pushing what was pulled
 * changes nothing.
 */
export async function runPull(folder: string, { force = false, json }: PullOptions): Promise<void> {
  const { environment, version, resources } = await createApi().post<SyncPull>('/v1/sync/pull', {});
  const local = hasDefinitions(folder) ? await loadFolder(folder) : null;
  const pulled = resourceKinds.flatMap((kind) =>
    resources[kind].map((definition) => pullOne(resolve(folder), kind, definition, local, force)),
  );
  const kept = pulled.filter(({ outcome }) => outcome === 'kept');
  if (kept.length > 0) process.exitCode = exitCodes.failure;
  if (json) return printJson({ environment, version, definitions: pulled });
  for (const { file, outcome, slug } of pulled) {
    if (outcome === 'written') print(colors.green(`  + ${safeLine(file)}`));
    if (outcome === 'kept') print(colors.yellow(`  ! ${safeLine(file)}: ${safeLine(slug)} differs`));
  }
  const count = (wanted: Outcome) => pulled.filter(({ outcome }) => outcome === wanted).length;
  note(`Pulled ${environment} at version ${version}: ${count('written')} written, ${count('unchanged')} the same.`);
  if (kept.length > 0)
    note(`${kept.length} differ and were left alone; parley diff shows how, --force replaces their files.`);
}

function pullOne(
  root: string,
  kind: ResourceKind,
  definition: { slug?: string; name: string },
  local: LoadedFolder | null,
  force: boolean,
): Pulled {
  const slug = definition.slug ?? definition.name;
  const own: { slug?: string; name: string }[] = local?.resources[kind] ?? [];
  const at = own.findIndex((one) => (one.slug ?? one.name) === slug);
  const fresh = `${folders[kind]}/${slug}.ts`;
  const file = local?.files[kind]?.[at] ?? fresh;
  if (at !== -1 && isDeepStrictEqual(plain(own[at]), plain(definition)))
    return { kind, slug, file, outcome: 'unchanged' };
  const path = join(root, file);
  // A file with several definitions, or one that could not be read, is nobody's to replace.
  const shared = (local?.files[kind] ?? []).filter((other) => other === file).length > 1;
  if (existsSync(path) && (!force || shared)) return { kind, slug, file, outcome: 'kept' };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    file.endsWith('.json') ? `${JSON.stringify(definition, null, 2)}\n` : writeDefinition(kind, definition),
  );
  return { kind, slug, file, outcome: 'written' };
}

/** As it goes over the wire. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
