import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ResourceSet, SyncPull } from '@parley/contracts';
import { createApi } from '../api';
import { pathOf } from '../command-io';
import { Failure } from '../failure';
import { loadFolder } from '../push/load-folder';
import { note, print, printJson } from '../terminal';
import { declarationFile, isGenerated } from '../types/declaration-file';

export interface TypesGenerateOptions {
  out: string;
  from?: string;
  check?: boolean;
  json?: boolean;
}

/**
 * `parley types generate`: writes TypeScript types of the entity types and custom tools of an
 * environment or a folder.
 */
export async function runTypesGenerate({
  out,
  from,
  check = false,
  json,
}: TypesGenerateOptions): Promise<void> {
  const resources =
    from === undefined
      ? (await createApi().post<SyncPull>('/v1/sync/pull', {})).resources
      : await readFolder(from);
  const text = declarationFile(resources);
  if (out === '-') return print(text.trimEnd());
  const file = pathOf(out);
  const before = existsSync(file) ? readFileSync(file, 'utf8').replaceAll('\r\n', '\n') : null;
  if (before !== null && !isGenerated(before))
    throw new Failure(
      `${out} exists and was not written by this command. Give another --out, or delete the file`,
    );
  const isCurrent = before === text;
  if (check && !isCurrent)
    throw new Failure(
      `${out} is not up to date. Run parley types generate without --check`,
      undefined,
      { file: out },
    );
  if (!isCurrent) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const counts = {
    entityTypes: resources.entityTypes?.length ?? 0,
    tools: resources.tools?.length ?? 0,
  };
  if (json) return printJson({ file: out, changed: !isCurrent, ...counts });
  note(
    `${isCurrent ? 'Up to date' : 'Written'}: ${out} (${counts.entityTypes} entity types, ${counts.tools} custom tools)`,
  );
}

async function readFolder(from: string): Promise<ResourceSet> {
  const { resources, problems } = await loadFolder(from);
  if (problems.length > 0)
    throw new Failure(['The definitions have problems:', ...problems].join('\n  '), undefined, {
      problems,
    });
  return resources;
}
