import type { Channels } from '@parley/channels';
import type { Db } from '@parley/db';
import {
  type NewPersonLink,
  createPersonLink,
  organizationsOf,
  personLinkAddress,
  personLinkMinutes,
} from '@parley/identity';
import type { Logger } from '@parley/service';

export interface PersonMailDeps {
  db: Db;
  publicUrl: string;
  channels: Pick<Channels, 'mailOfEnvironment' | 'mailOfServer' | 'mailToPerson'>;
}

/** Names of organizations are part of texts. */
const oneLine = (text: string): string => text.replace(/\p{Cc}/gu, ' ');

const wordsOf = {
  password: {
    subject: 'New password for Parley',
    text: (where: string) =>
      `Someone asked for a new password for an account with this e-mail address (${where}). If it was you, open this link`,
  },
  email: {
    subject: 'Your e-mail address at Parley',
    text: (where: string) =>
      `Confirm that this is your e-mail address (${where}): sign in and open this link`,
  },
};

/**
 * Sends a person a link, which ends the earlier one. False when neither the organization nor the
 * server can send it, or the provider has not taken it.
 */
export async function mailLink(
  { db, publicUrl, channels }: PersonMailDeps,
  log: Logger,
  id: string,
  { purpose, email }: { purpose: NewPersonLink['purpose']; email: string },
): Promise<boolean> {
  const organizations = await organizationsOf(db, id);
  const owners = organizations.map((one) => ({ organizationId: one.id, tenant: one.tenant }));
  const mail = organizations.length === 0 ? null : await channels.mailToPerson(owners);
  if (mail === null) return false;
  const token = await createPersonLink(db, id, { purpose, email, proofTenant: mail.proofTenant });
  const { subject, text } = wordsOf[purpose];
  // Without the name of the person: anyone may have typed both, and what they typed
  // must not be sent.
  const where = oneLine(organizations.map((one) => one.name).join(', '));
  const link = personLinkAddress(publicUrl, purpose, token);
  const ending = 'Otherwise ignore this e-mail: nothing changes.';
  const body = `${text(where)} within ${personLinkMinutes} minutes; it works once:\n\n${link}\n\n${ending}\n`;
  return mail.send({ to: email, subject, text: body }).catch((error: unknown) => {
    log.warn({ err: error }, 'a link for a person was not sent');
    return false;
  });
}
