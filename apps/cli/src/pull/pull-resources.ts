import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type ResourceKind, type ResourceSet, resourceKinds } from '@parley/contracts';
import { type LoadedFolder, folders, isIgnoredFile } from '../push/load-folder';
import { writeDefinitions } from './write-definitions';

type Definition = { slug?: string; name: string };

export interface Pulled {
  kind: ResourceKind;
  slug: string;
  /** Path relative to the folder. */
  file: string;
  outcome: 'written' | 'unchanged' | 'kept';
  /** Why the file was not written. */
  reason?: string;
}

const nameOf = ({ slug, name }: Definition): string => slug ?? name;

/**
 * Writes definitions of an environment that a folder lacks, and with `force` those that differ. A
 * file is rewritten as a whole; definitions in it that only the folder has are kept.
 */
export function pullResources(
  root: string,
  remote: Required<ResourceSet>,
  local: LoadedFolder | null,
  force: boolean,
): Pulled[] {
  const rewritten = new Set<string>();
  const pulled = resourceKinds.flatMap((kind) => {
    const own = (local?.resources[kind] ?? []) as Definition[];
    const files = local?.files[kind] ?? [];
    return (remote[kind] as Definition[]).map((definition): Pulled => {
      const slug = nameOf(definition);
      const at = own.findIndex((one) => nameOf(one) === slug);
      if (at === -1) return pullNew(kind, definition);
      const file = files[at]!;
      if (isDeepStrictEqual(plain(own[at]), plain(definition)))
        return { kind, slug, file, outcome: 'unchanged' };
      if (!force)
        return { kind, slug, file, outcome: 'kept', reason: 'the file has another version' };
      if (local!.incomplete.includes(file))
        return {
          kind,
          slug,
          file,
          outcome: 'kept',
          reason: 'another definition in the file cannot be read',
        };
      rewritten.add(file);
      return { kind, slug, file, outcome: 'written' };
    });
  });
  for (const kind of resourceKinds) rewrite(kind);
  return pulled;

  function pullNew(kind: ResourceKind, definition: Definition): Pulled {
    const slug = nameOf(definition);
    const file = freeName(kind, slug);
    if (local?.incomplete.includes(file))
      return { kind, slug, file, outcome: 'kept', reason: 'the file exists and cannot be read' };
    write(file, kind, [definition]);
    return { kind, slug, file, outcome: 'written' };
  }

  /** A name of a file that does not exist yet and that `push` does not ignore. */
  function freeName(kind: ResourceKind, slug: string): string {
    const stem = isIgnoredFile(`${slug}.ts`) ? slug.replaceAll('.', '-') : slug;
    for (let number = 1; ; number += 1) {
      const file = `${folders[kind]}/${stem}${number === 1 ? '' : `-${number}`}.ts`;
      if (local?.incomplete.includes(file) || !existsSync(join(root, file))) return file;
    }
  }

  /** Replaces definitions in existing files by the environment's definitions. */
  function rewrite(kind: ResourceKind): void {
    const own = (local?.resources[kind] ?? []) as Definition[];
    const files = local?.files[kind] ?? [];
    for (const file of new Set(files.filter((one) => rewritten.has(one)))) {
      const inFile = own.filter((_, index) => files[index] === file);
      const pulled = remote[kind] as Definition[];
      write(
        file,
        kind,
        inFile.map(
          (one) =>
            pulled.find((other) => nameOf(other) === nameOf(one)) ?? (plain(one) as Definition),
        ),
      );
    }
  }

  function write(file: string, kind: ResourceKind, definitions: Definition[]): void {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    const json = definitions.length === 1 ? definitions[0] : definitions;
    writeFileSync(
      path,
      file.endsWith('.json')
        ? `${JSON.stringify(json, null, 2)}\n`
        : writeDefinitions(kind, definitions),
    );
  }
}

/** A definition as the API transmits it, without functions and undefined fields. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
