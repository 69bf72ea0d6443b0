import { recordAudit } from '@parley/audit';
import type { Queryable } from '@parley/db';
import {
  createPersonLink,
  holdersOfEmail,
  organizationsOf,
  personLinkAddress,
  personLinkMinutes,
} from '@parley/identity';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { operatorSource } from '../operator';
import { publicUrlOf } from '../public-url';
import { note, print, printJson } from '../terminal';

const maxShown = 20;

/**
 * `parley members reset-password`: prints a link that sets a new password of a person, and nothing
 * else, on stdout.
 */
export async function runMembersResetPassword(
  person: string,
  { json }: { json?: boolean },
): Promise<void> {
  const publicUrl = publicUrlOf();
  await withDatabase(async (db) => {
    const { id, organizations } = await findOne(db, person);
    const token = await db.transaction(async (tx) => {
      for (const { tenant } of organizations)
        await recordAudit(tx, { tenant, environment: null }, operatorSource, {
          action: 'password.reset_sent',
          target: { type: 'person', id },
        });
      return createPersonLink(tx, id, { purpose: 'password', email: null, proofTenant: null });
    });
    const link = personLinkAddress(publicUrl, 'password', token);
    const slugs = organizations.map(({ slug }) => slug);
    if (json) return printJson({ person: id, organizations: slugs, link });
    note(`The person who opens this link sets the password of ${id} (${slugs.join(', ')}).`);
    note(`It works for ${personLinkMinutes} minutes, once, and ends the one before.`);
    print(link);
  });
}

/** The person with an id or an e-mail address. Several people may have an address. */
async function findOne(db: Queryable, person: string) {
  const ids = person.includes('@')
    ? (await holdersOfEmail(db, person, maxShown)).map(({ id }) => id)
    : [person];
  const found = await Promise.all(
    ids.map(async (id) => ({ id, organizations: await organizationsOf(db, id) })),
  );
  const people = found.filter(({ organizations }) => organizations.length > 0);
  const [one, another] = people;
  if (one === undefined)
    throw new Failure(`No person of an organization has the e-mail address or id "${person}"`);
  if (another === undefined) return one;
  const shown = people.map(
    ({ id, organizations }) => `${id} (${organizations.map(({ slug }) => slug).join(', ')})`,
  );
  throw new Failure(
    `Several people have the address ${person}. Name one by the id: ${shown.join(', ')}`,
  );
}
