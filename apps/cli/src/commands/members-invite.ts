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
import { findStack, readVariable } from '../environment';
import { findOrganization } from '../organizations';
import { note, print, printJson } from '../terminal';

export interface MembersInviteOptions {
  role: PersonRole;
  org?: string;
  first?: boolean;
  json?: boolean;
}

const auditSource = { actor: { type: 'command', id: null, name: null } } as const;

/** `parley members invite`: prints a link that makes the first person who opens it a member, and nothing else, on stdout. */
export async function runMembersInvite({ role, org, first, json }: MembersInviteOptions): Promise<void> {
  const publicUrl = readVariable('PUBLIC_URL') ?? findStack()?.gatewayUrl ?? 'http://localhost:4000';
  await withDatabase(async (db) => {
    const organization = await findOrganization(db, org);
    const { tenant, slug } = organization;
    const made = await db.transaction(async (tx) => {
      await lockMembers(tx, { tenant });
      // No person has the empty id: any admin counts.
      if (first && (await hasOtherAdmin(tx, { tenant }, ''))) return null;
      if (role === 'admin') await revokeFirstLinks(tx, { tenant });
      const created = await createInvitation(tx, { tenant }, { role, minutes: firstAdminMinutes });
      await recordAudit(tx, { tenant, environment: null }, auditSource, {
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
