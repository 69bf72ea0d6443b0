import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTypescript } from '../start/load-typescript.mjs';
import { root } from '../start/paths.mjs';

/** The rights of people as a text: `member`, `admin`, or one for each environment. */
export const peopleText = ({ people, permission, security }) => {
  if (typeof people === 'object')
    return `${people.development} in development, ${people.production} in production`;
  if (people !== undefined) return people;
  if (permission !== null) return 'no';
  return security === 'session' ? 'everyone with a session' : 'everyone';
};

/**
 * Returns the text of docs/reference/permissions.md with the table of the operations that
 * people may call.
 */
export async function permissionsPage() {
  const { operations } = await loadTypescript(
    "export { operations } from './libs/contracts/src/index'",
    'permissions-page',
  );
  const rows = Object.values(operations)
    .filter(({ people }) => people !== undefined)
    .map((operation) => {
      const { method, path, summary } = operation;
      return `| \`${method.toUpperCase()} ${path}\` | ${summary} | ${peopleText(operation)} |`;
    });
  const table = ['| endpoint | | least role |', '|---|---|---|', ...rows].join('\n');
  const page = readFileSync(join(root, 'docs/reference/permissions.md'), 'utf8');
  return page.replace(
    /(<!-- people -->\n).*?(<!-- \/people -->)/s,
    (_, begin, end) => `${begin}\n${table}\n\n${end}`,
  );
}
