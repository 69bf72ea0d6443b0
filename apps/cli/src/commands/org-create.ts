import { slugSchema } from '@parley/contracts';
import { newId } from '@parley/db';
import { insertOrganization } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure, usageFailure } from '../failure';
import { shownOrganization } from '../organizations';
import { print } from '../terminal';

/**
 * `parley org create --slug S --name N`: creates an organization and prints it as one line of JSON.
 */
export async function runOrgCreate({ slug, name }: { slug: string; name: string }): Promise<void> {
  const parsed = slugSchema.safeParse(slug);
  if (!parsed.success) throw usageFailure(`--slug ${parsed.error.issues[0]!.message}`);
  if (name.trim() === '') throw usageFailure('--name must not be empty');
  await withDatabase(async (db) => {
    const made = await insertOrganization(db, { id: newId('org'), slug, name: name.trim() });
    if (made === null) throw new Failure(`An organization with the slug "${slug}" already exists`);
    print(JSON.stringify(shownOrganization(made)));
  });
}
