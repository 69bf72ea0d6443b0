import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LoadedFolder } from '../push/load-folder';
import { declarationFile, isGenerated, projectFile } from './declaration-file';

/**
 * Writes the types of a project's definitions again if the project has the file and its definitions
 * have no problems.
 */
export function refreshTypes(root: string, { resources, problems }: LoadedFolder): void {
  const file = join(root, projectFile);
  if (problems.length > 0 || !existsSync(file)) return;
  const before = readFileSync(file, 'utf8');
  const text = declarationFile(resources);
  if (isGenerated(before) && before !== text) writeFileSync(file, text);
}
