import { recordAudit } from '@parley/audit';
import type { PersonRole } from '@parley/contracts';
import {
  createInvitation,
  firstAdminMinutes,
  hasOtherAdmin,
  invitationLink,
  lockMembers,
  revokeFirstLinks,
} from '@parley/identity';
import { withDatabase } from '../database';
import { operatorSource } from '../operator';
import { findOrganization } from '../organizations';
import { publicUrlOf } from '../public-url';
import { note, print, printJson } from '../terminal';

export interface MembersInviteOptions {
  role: PersonRole;
  org?: string;
  first?: boolean;
  json?: boolean;
}

/**
 * `parley members invite`: prints a link that makes the first person who opens it a member, and
 * nothing else, on stdout.
 */
export async function runMembersInvite({
  role,
  org,
  first,
  json,
}: MembersInviteOptions): Promise<void> {
  const publicUrl = publicUrlOf();
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    const { tenant, slug } = organization;
    const made = await db.transaction(async (tx) => {
      await lockMembers(tx, { tenant });
      // No person has the empty id: any admin counts.
      if (first && (await hasOtherAdmin(tx, { tenant }, ''))) return null;
      if (role === 'admin') await revokeFirstLinks(tx, { tenant });
      const created = await createInvitation(
        tx,
        { tenant },
        {
          role,
          author: { type: 'command' },
          minutes: firstAdminMinutes,
        },
      );
      await recordAudit(tx, { tenant, environment: null }, operatorSource, {
        action: 'invitation.created',
        target: { type: 'invitation', id: created.invitation.id },
        after: { role },
      });
      return created;
    });
    const link = made && invitationLink(publicUrl, made.token);
    const expiresAt = made && made.invitation.expiresAt.toISOString();
    if (json) return printJson({ organization: slug, role, link, expiresAt });
    if (link === null) return note(`${slug} has an admin, who can invite people.`);
    note(
      `The first person who opens this link becomes ${role} of ${slug}. It works for ${firstAdminMinutes} minutes, once.`,
    );
    print(link);
  });
}
