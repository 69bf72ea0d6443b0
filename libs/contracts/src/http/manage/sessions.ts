import { z } from 'zod';
import { environmentSchema } from '../../scope';
import { idParams, time } from './list';

export const invitationTokenSchema = z
  .string()
  .min(1)
  .max(200)
  .describe('The last part of the link.');

export const roleSchema = z
  .enum(['admin', 'member'])
  .describe('What the person may do in the organization.');
export const emailSchema = z
  .string()
  .trim()
  .max(254)
  .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address');
/** The length alone makes a password hard to guess. */
export const newPasswordSchema = z
  .string()
  .min(10)
  .max(200)
  .describe('A password of 10 to 200 characters.');

export const sessionParamsSchema = idParams;

export const keepSignedInSchema = z
  .boolean()
  .default(false)
  .describe(
    'The session does not end by not being used, and lasts 30 days. Otherwise it ends after 7 days without a request.',
  );

export const signInBodySchema = z.strictObject({
  email: z.string().min(1).max(254).describe('E-mail address of the person.'),
  password: z.string().min(1).max(200).describe('Password of the person.'),
  keepSignedIn: keepSignedInSchema,
});

const personSchema = z.object({
  id: z.string().describe('Id of the person.'),
  email: z.string().nullable().describe('E-mail address.'),
  isEmailProved: z
    .boolean()
    .describe('Whether the address is proved in all organizations of the person.'),
  name: z.string().nullable().describe('Name of the person.'),
  hasPassword: z.boolean().describe('Whether the person can sign in with a password.'),
});

export const startedSessionSchema = z.object({
  id: z.string().describe('Id of the session.'),
  expiresAt: time('When it ends at the latest.'),
  person: personSchema.describe('Who signed in.'),
});

export const signInWaysSchema = z.object({
  password: z.literal(true).describe('People can sign in with e-mail address and password.'),
  oidc: z
    .object({ name: z.string().describe("The provider's name, for the button.") })
    .nullable()
    .describe('The OpenID provider at which people can sign in; null when none is configured.'),
  passwordResetByEmail: z
    .boolean()
    .describe(
      'Whether this server can send e-mails to people, of any organization. Otherwise an operator prints the links.',
    ),
});

/**
 * A path that is written without dots may begin with two slashes, and browsers take what follows
 * them for a host.
 */
const isOwnPath = (path: string): boolean => {
  const url = URL.parse(path, 'http://own.invalid');
  return url?.host === 'own.invalid' && !url.pathname.startsWith('//');
};
const ownPath = 'must be a path of this address, such as /console/';

export const beginOidcSignInBodySchema = z.strictObject({
  invitation: invitationTokenSchema
    .optional()
    .describe('The last part of the link of an invitation that is accepted by it.'),
  returnTo: z
    .string()
    .max(1_000)
    .regex(/^\/([!-.0-[\]-~][!-[\]-~]*)?$/, ownPath)
    .refine(isOwnPath, ownPath)
    .default('/console/')
    .describe('Path to which the browser returns in the end.'),
});

export const begunOidcSignInSchema = z.object({
  url: z.string().describe('Address at the provider, to which the page sends the browser.'),
});

const answered = z.string().max(4_000).optional();
/** Providers add parameters of their own. */
export const finishOidcSignInQuerySchema = z.looseObject({
  state: answered.describe('The value that the sign-in began with.'),
  code: answered.describe('What the provider exchanges for the identity.'),
  iss: answered.describe('The provider.'),
  error: answered.describe('Why the provider refused.'),
});

const confirmationId = z.string().min(1).max(100);
export const identityConfirmationSchema = z.object({
  id: confirmationId.describe(
    'What the confirmation names, so that the identity that was shown is the one that is added.',
  ),
  person: personSchema.describe('Who is signed in. The identity would be added to this account.'),
  identity: z
    .object({
      provider: z.string().describe("The provider's name for people."),
      issuer: z.string().describe('The address of the provider.'),
      email: z
        .string()
        .nullable()
        .describe('E-mail address, as the provider says. At most 100 characters.'),
      name: z.string().nullable().describe('Name, as the provider says. At most 100 characters.'),
    })
    .describe(
      'Who signed in at the provider. The owner of this identity could sign in to the account.',
    ),
  organization: z
    .object({
      slug: z.string().describe('The name in commands.'),
      name: z.string().describe('The name for people.'),
    })
    .describe('The organization of the invitation, which the person would join.'),
  role: roleSchema,
});
export const confirmIdentityBodySchema = z.strictObject({
  id: confirmationId.describe('The `id` of what was shown.'),
});
export const confirmedIdentitySchema = z.object({
  returnTo: z
    .string()
    .describe('Path to which the page sends the browser: the one that the sign-in began with.'),
});

export const meSchema = z.object({
  person: personSchema.describe('The person of the session.'),
  sessionId: z.string().describe('Id of this session.'),
  organizations: z
    .array(
      z.object({
        id: z.string().describe('Value of the header `Parley-Organization`.'),
        slug: z.string().describe('The name in commands.'),
        name: z.string().describe('The name for people.'),
        role: roleSchema,
        environments: z
          .array(environmentSchema)
          .describe('Values of the header `Parley-Environment`.'),
      }),
    )
    .describe('The organizations of the person, by name.'),
});

export const sessionListSchema = z.object({
  data: z
    .array(
      z.object({
        id: z.string().describe('Id of the session.'),
        isCurrent: z.boolean().describe('Whether it is the session of this request.'),
        address: z.string().nullable().describe('Network address at the sign-in.'),
        userAgent: z.string().nullable().describe('The browser at the sign-in.'),
        createdAt: time('When it began.'),
        lastSeenAt: time('When it was last used, to five minutes.'),
        expiresAt: time('When it ends at the latest.'),
      }),
    )
    .describe('The valid sessions, newest first, at most 100.'),
});

export const changePasswordBodySchema = z.strictObject({
  currentPassword: z.string().min(1).max(200).describe('The password until now.'),
  newPassword: newPasswordSchema,
});

const linkTokenSchema = z.string().min(1).max(200).describe('The last part of the link.');

export const requestPasswordResetBodySchema = z.strictObject({
  email: z.string().min(1).max(254).describe('E-mail address of the person.'),
});

export const linkTokenBodySchema = z.strictObject({ token: linkTokenSchema });

export const shownPasswordResetSchema = z.object({
  email: z
    .string()
    .nullable()
    .describe(
      'The address to sign in with afterwards. Null: the person has none, and `email` is required.',
    ),
});

export const completePasswordResetBodySchema = z.strictObject({
  token: linkTokenSchema,
  password: newPasswordSchema,
  email: emailSchema
    .optional()
    .describe('E-mail address to sign in with, for a person who has none.'),
});

export const changeEmailBodySchema = z.strictObject({
  email: emailSchema.describe(
    'E-mail address to sign in with. The present one: only the e-mail to confirm it is sent again.',
  ),
  password: z.string().min(1).max(200).describe('The password.'),
});

export const changedEmailSchema = z.object({
  person: personSchema.describe('The person with the address.'),
  isConfirmationSent: z
    .boolean()
    .describe(
      'Whether the e-mail provider has taken an e-mail with a link that proves the address.',
    ),
});
