import type { Queryable } from '@parley/db';
import { type Organization, listOrganizations } from '@parley/identity';
import { io } from './command-io';
import { Failure } from './failure';
import { safeLine } from './safe-text';
import { canAsk } from './terminal';

export const demoSlug = 'demo';

/**
 * The organization with this slug; by default the only one. With several, a terminal asks and a
 * script gets an error.
 */
export async function findOrganization(
  db: Queryable,
  slug: string | undefined,
): Promise<Organization> {
  const rows = await listOrganizations(db, slug);
  if (slug !== undefined && rows.length === 0)
    throw new Failure(`No organization has the slug "${slug}". List them with: parley org list`);
  if (rows.length === 0)
    throw new Failure('There is no organization yet. Create one with: parley org create');
  if (rows.length === 1) return rows[0]!;
  if (!canAsk())
    throw new Failure(
      `There are several organizations. Choose one with --org ${listOf(rows.map((row) => row.slug))}`,
    );
  const { isCancel, select } = await import('@clack/prompts');
  const chosen = await select({
    message: 'Which organization?',
    options: rows.map((row) => ({ value: row, label: row.slug, hint: safeLine(row.name) })),
    maxItems: 10,
    input: io().stdin,
    output: io().stderr,
  });
  if (isCancel(chosen)) throw new Failure('No organization was chosen');
  return chosen;
}

/** An organization as `--json` shows it, without its internal number. */
export const shownOrganization = ({ tenant: _tenant, ...shown }: Organization) => shown;

const listOf = (slugs: string[]): string =>
  slugs.length <= 10
    ? slugs.join(' | ')
    : `${slugs.slice(0, 10).join(' | ')} | … (${slugs.length} in total)`;
