import { z } from 'zod';
import { idParams, listOf, pageQuery, time, timeOrNull } from './list';
import {
  emailSchema,
  invitationTokenSchema,
  keepSignedInSchema,
  newPasswordSchema,
  roleSchema,
} from './sessions';

export const memberParamsSchema = idParams;
export const invitationParamsSchema = idParams;
export const listMembersQuerySchema = z.object(pageQuery);
export const listInvitationsQuerySchema = z.object(pageQuery);

export const memberSchema = z.object({
  id: z.string().describe('Id of the person.'),
  email: z.string().nullable().describe('E-mail address.'),
  isEmailProved: z
    .boolean()
    .describe(
      'Whether the person has shown to read the mail of the address. Otherwise it is only what the person typed.',
    ),
  name: z.string().nullable().describe('Name of the person.'),
  role: roleSchema,
  isManaged: z
    .boolean()
    .describe(
      'Whether the identity provider manages the membership. Then its role is changed there.',
    ),
  createdAt: time('When the person became a member.'),
  lastSeenAt: timeOrNull('When the person last used Parley, to five minutes.'),
});
export const memberListSchema = listOf(memberSchema);

export const changeMemberBodySchema = z.strictObject({ role: roleSchema });

const invitationSchema = z.object({
  id: z.string().describe('Id of the invitation.'),
  role: roleSchema,
  email: z.string().nullable().describe('Address to which it was sent.'),
  invitedBy: z
    .string()
    .nullable()
    .describe('Id of the person who invited. Null: an API key or a command.'),
  status: z.enum(['open', 'accepted', 'revoked', 'expired']).describe('Whether its link works.'),
  createdAt: time('When it was created.'),
  expiresAt: time('When its link stops working.'),
  acceptedAt: timeOrNull('When it was accepted.'),
  acceptedBy: z.string().nullable().describe('Id of the person who accepted it.'),
});
export const invitationListSchema = listOf(invitationSchema);

export const createInvitationBodySchema = z.strictObject({
  role: roleSchema,
  email: emailSchema
    .optional()
    .describe(
      'Address to send the link to. It does not limit who may accept the invitation. The link in the e-mail also proves the address.',
    ),
});

export const createdInvitationSchema = invitationSchema.extend({
  link: z
    .string()
    .describe('The link that makes the first person who opens it a member. It is shown once.'),
  isEmailed: z.boolean().describe('Whether the e-mail provider has taken the link.'),
});

export const invitationTokenBodySchema = z.strictObject({ token: invitationTokenSchema });

export const shownInvitationSchema = z.object({
  organization: z
    .object({
      slug: z.string().describe('The name in commands.'),
      name: z.string().describe('The name for people.'),
    })
    .describe('The organization that the invitation is for.'),
  role: roleSchema,
  email: z.string().nullable().describe('Address to which it was sent.'),
  isEmailProved: z
    .boolean()
    .describe(
      'Whether the link is the one of the e-mail, so that joining with the address proves it.',
    ),
  expiresAt: time('When the link stops working.'),
});

/** PostgreSQL stores no NUL; requests with one are refused before. */
export const acceptInvitationBodySchema = z.strictObject({
  token: invitationTokenSchema,
  email: emailSchema
    .optional()
    .describe(
      'E-mail address to sign in with. Default: the one of the invitation. Required without both and a session.',
    ),
  name: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .refine(
      (name) => !/[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u.test(name),
      'must be one line without invisible characters',
    )
    .refine((name) => /[\p{L}\p{N}]/u.test(name), 'must have a letter or a digit')
    // Colleagues would take it for a proved address.
    .refine((name) => !name.normalize('NFKC').includes('@'), 'must not contain @')
    .optional()
    .describe('Name of the person. It is not an e-mail address.'),
  password: newPasswordSchema.optional(),
  keepSignedIn: keepSignedInSchema,
});
