import { recordAudit } from '@parley/audit';
import { organizationsOf, releaseEmail } from '@parley/identity';
import { withDatabase } from '../database';
import { Failure } from '../failure';
import { operatorSource } from '../operator';
import { note, print, printJson } from '../terminal';

/**
 * `parley members release-email`: takes an e-mail address from the people who sign in with it, and
 * prints their ids.
 */
export async function runMembersReleaseEmail(
  email: string,
  { unconfirmed = false, json }: { unconfirmed?: boolean; json?: boolean },
): Promise<void> {
  const people = await withDatabase((db) =>
    db.transaction(async (tx) => {
      const ids = await releaseEmail(tx, email, !unconfirmed);
      for (const id of ids)
        for (const { tenant } of await organizationsOf(tx, id))
          await recordAudit(tx, { tenant, environment: null }, operatorSource, {
            action: 'email.released',
            target: { type: 'person', id },
            before: { email },
          });
      return ids;
    }),
  );
  if (people.length === 0)
    throw new Failure(
      `No one signs in with ${email}${unconfirmed ? ' without having confirmed it' : ''}`,
    );
  if (json) return printJson({ email, people });
  note(`These people have no e-mail address and no password any more. They stay members.`);
  note('A link for a new one: parley members reset-password <id>');
  for (const id of people) print(id);
}
