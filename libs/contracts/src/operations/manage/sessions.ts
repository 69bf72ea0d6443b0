import { z } from 'zod';
import {
  beginOidcSignInBodySchema,
  begunOidcSignInSchema,
  changeEmailBodySchema,
  changePasswordBodySchema,
  changedEmailSchema,
  completePasswordResetBodySchema,
  confirmIdentityBodySchema,
  confirmedIdentitySchema,
  finishOidcSignInQuerySchema,
  identityConfirmationSchema,
  linkTokenBodySchema,
  meSchema,
  requestPasswordResetBodySchema,
  sessionListSchema,
  sessionParamsSchema,
  shownPasswordResetSchema,
  signInBodySchema,
  signInWaysSchema,
  startedSessionSchema,
} from '../../http/manage/sessions';
import { invitationEnded, tooManyLinks, unknownInvitation } from './members';
import { type ErrorExample, defineOperations, get, post, remove } from '../operation';

const own = { security: 'session', rateLimited: true } as const;
const table = {
  getSignInWays: get('/v1/sign-in', null),
  beginOidcSignIn: post('/v1/sign-in/oidc', null, { readOnly: true, sameSite: true }),
  finishOidcSignIn: get('/v1/sign-in/oidc/callback', null),
  getIdentityConfirmation: get('/v1/sign-in/oidc/confirmation', null, own),
  confirmIdentity: post('/v1/sign-in/oidc/confirmation', null, own),
  declineIdentity: remove('/v1/sign-in/oidc/confirmation', null, { ...own, isAudited: false }),
  signIn: post('/v1/sessions', null, { sameSite: true }),
  // Before :id, because the first match is used.
  signOut: remove('/v1/sessions/current', null, own),
  endSession: remove('/v1/sessions/:id', null, own),
  listSessions: get('/v1/sessions', null, own),
  getMe: get('/v1/me', null, own),
  changePassword: post('/v1/me/password', null, own),
  changeEmail: post('/v1/me/email', null, own),
  confirmEmail: post('/v1/me/email/confirm', null, own),
  // The link that is sent after the answer has an entry.
  requestPasswordReset: post('/v1/sign-in/password-reset', null, {
    sameSite: true,
    isAudited: false,
  }),
  showPasswordReset: post('/v1/sign-in/password-reset/show', null, {
    readOnly: true,
    sameSite: true,
  }),
  completePasswordReset: post('/v1/sign-in/password-reset/complete', null, { sameSite: true }),
};

const person = {
  id: 'user_01',
  email: 'ana@example.com',
  isEmailProved: true,
  name: 'Ana Rojas',
  hasPassword: true,
};
const success = (description: string) =>
  z.object({ success: z.literal(true).describe(description) });
const tooMany: ErrorExample = ['too_many_attempts', 'Too many attempts to sign in'];
const httpsRequired: ErrorExample = [
  'https_required',
  'Signing in requires HTTPS. Open this address with https://, or use http://localhost',
];
const noOidc: ErrorExample = ['no_oidc', 'No OpenID provider is configured'];
const expired: ErrorExample = [
  'sign_in_expired',
  'This sign-in has expired or was begun in another browser. Begin again',
];
const noPassword: ErrorExample = ['no_password', 'You sign in without a password'];
const passwordChanged: ErrorExample = [
  'password_changed',
  'The password was changed by another request',
];
const wrongPassword: ErrorExample = ['wrong_password', 'The current password is wrong'];
const linkEnded: ErrorExample = ['link_ended', 'The link was used or replaced, or has expired'];
const busy: ErrorExample = ['sign_in_unavailable', 'Signing in is temporarily unavailable'];

export const sessionOperations = defineOperations('People', table, {
  getSignInWays: {
    summary: 'List the ways to sign in',
    response: signInWaysSchema,
    example: { response: { password: true, oidc: { name: 'Acme' }, passwordResetByEmail: true } },
  },
  beginOidcSignIn: {
    summary: 'Begin to sign in at the OpenID provider',
    description:
      'Sets a cookie for 10 minutes and returns the address to which the page sends the browser. With `invitation` the person becomes a member by it.',
    body: beginOidcSignInBodySchema,
    response: begunOidcSignInSchema,
    errors: {
      403: [httpsRequired],
      404: [noOidc, unknownInvitation],
      410: [invitationEnded],
      429: [tooMany, tooManyLinks],
      503: [busy, ['oidc_unavailable', 'The OpenID provider is temporarily unavailable']],
    },
    example: {
      body: { returnTo: '/console/' },
      response: { url: 'https://id.example.com/authorize?client_id=parley&state=…' },
    },
  },
  finishOidcSignIn: {
    summary: 'Finish to sign in at the OpenID provider',
    description:
      'The provider sends the browser here. Begins a session, sets its cookie and sends the browser to `returnTo`. When an unknown identity came with an invitation and a session, nothing is changed yet: the browser is sent to the page of the console that asks the person who is signed in. When the sign-in failed, it is sent there with `error`: `sign_in_cancelled`, `sign_in_failed`, `no_organization`, `invitation_not_found`, `invitation_ended` or `identity_taken`.',
    query: finishOidcSignInQuerySchema,
    status: 303,
    response: z.null(),
    errors: {
      400: [expired],
      404: [noOidc],
      429: [tooMany],
      503: [busy],
    },
    example: { response: null },
  },
  getIdentityConfirmation: {
    summary: 'Show the identity that waits for a confirmation',
    description:
      'An unknown identity that signed in by an invitation, in a browser with a session, waits for 10 minutes until the person who is signed in confirms it.',
    response: identityConfirmationSchema,
    errors: { 400: [expired], 404: [noOidc, unknownInvitation], 410: [invitationEnded] },
    example: {
      response: {
        id: '0b9c6f6e-4f0a-4f5e-9d0c-2f6f3a1b7c55',
        person,
        identity: {
          provider: 'Acme',
          issuer: 'https://id.example.com',
          email: 'ana@example.com',
          name: 'Ana Rojas',
        },
        organization: { slug: 'acme', name: 'Acme' },
        role: 'member',
      },
    },
  },
  confirmIdentity: {
    summary: 'Add the identity to the account',
    description:
      'The person who is signed in can sign in with the identity from now on, and joins the organization of the invitation. The link is used up.',
    body: confirmIdentityBodySchema,
    response: confirmedIdentitySchema,
    errors: {
      400: [expired],
      403: [httpsRequired],
      404: [noOidc, unknownInvitation],
      409: [['identity_taken', 'This identity belongs to another person']],
      410: [invitationEnded],
    },
    example: {
      body: { id: '0b9c6f6e-4f0a-4f5e-9d0c-2f6f3a1b7c55' },
      response: { returnTo: '/console/' },
    },
  },
  declineIdentity: {
    summary: 'Decline to add the identity',
    description: 'Removes the cookie with the identity. The invitation can still be accepted.',
    response: success('Nothing waits for a confirmation any more.'),
    example: { response: { success: true } },
  },
  signIn: {
    summary: 'Sign in with a password',
    description:
      'Begins a session and sets its cookie. The answer and its time are the same for a wrong password and an unknown person.',
    body: signInBodySchema,
    status: 201,
    response: startedSessionSchema,
    errors: {
      401: [['wrong_credentials', 'Wrong e-mail address or password']],
      403: [
        httpsRequired,
        ['no_organization', 'You belong to no organization. Ask an admin for an invitation'],
      ],
      429: [tooMany],
      503: [busy],
    },
    example: {
      body: { email: 'ana@example.com', password: 'correct horse', keepSignedIn: true },
      response: { id: 'session_01', expiresAt: 1763683200000, person },
    },
  },
  signOut: {
    summary: 'Sign out',
    description: 'Ends this session on every process and removes its cookie.',
    response: success('The session has ended.'),
    example: { response: { success: true } },
  },
  endSession: {
    summary: 'End a session',
    description: 'Ends another session of the same person.',
    params: sessionParamsSchema,
    response: success('The session has ended.'),
    errors: { 404: [['session_not_found', 'Session not found']] },
    example: { response: { success: true } },
  },
  listSessions: {
    summary: 'List own sessions',
    response: sessionListSchema,
    example: {
      response: {
        data: [
          {
            id: 'session_01',
            isCurrent: true,
            address: '203.0.113.7',
            userAgent: 'Mozilla/5.0',
            createdAt: 1763683200000,
            lastSeenAt: 1763683200000,
            expiresAt: 1766275200000,
          },
        ],
      },
    },
  },
  getMe: {
    summary: 'Retrieve the signed-in person',
    description: 'Requires a session and neither `Parley-Organization` nor `Parley-Environment`.',
    response: meSchema,
    example: {
      response: {
        person,
        sessionId: 'session_01',
        organizations: [
          {
            id: 'org_01',
            slug: 'acme',
            name: 'Acme',
            role: 'admin',
            environments: ['development', 'production'],
          },
        ],
      },
    },
  },
  changePassword: {
    summary: 'Change the password',
    description: 'Ends all other sessions of the person.',
    body: changePasswordBodySchema,
    response: success('The password is changed.'),
    errors: {
      403: [wrongPassword],
      409: [noPassword, passwordChanged],
      429: [tooMany],
      503: [busy],
    },
    example: {
      body: { currentPassword: 'correct horse', newPassword: 'battery staple 12' },
      response: { success: true },
    },
  },
  changeEmail: {
    summary: 'Change the e-mail address',
    description:
      'Changes the address to sign in with, which is not proved at first, and sends an e-mail with a link that proves it, if the organization or the server can. A change ends all other sessions of the person.',
    body: changeEmailBodySchema,
    response: changedEmailSchema,
    errors: {
      403: [wrongPassword],
      409: [noPassword, passwordChanged],
      429: [tooMany],
      503: [busy],
    },
    example: {
      body: { email: 'ana@example.com', password: 'correct horse' },
      response: { person: { ...person, isEmailProved: false }, isConfirmationSent: true },
    },
  },
  confirmEmail: {
    summary: 'Prove the e-mail address',
    description:
      'Uses the link of the e-mail up. The signed-in person must be the one to whom it was sent. The person who proved the address before has not proved it any more, and still signs in with it.',
    body: linkTokenBodySchema,
    response: success('The address is proved.'),
    errors: { 410: [linkEnded] },
    example: { body: { token: 'Zk3…' }, response: { success: true } },
  },
  requestPasswordReset: {
    summary: 'Request a link that sets a new password',
    description:
      'Sends a link to the address after the answer, if a person has it and the organization or the server can send e-mails. The answer and its time are the same for an unknown address. The link works once, for 30 minutes; a new one ends it.',
    body: requestPasswordResetBodySchema,
    status: 202,
    response: success('A link is sent if a person has the address.'),
    errors: { 403: [httpsRequired], 429: [tooMany], 503: [busy] },
    example: { body: { email: 'ana@example.com' }, response: { success: true } },
  },
  showPasswordReset: {
    summary: 'Show whose password a link sets',
    body: linkTokenBodySchema,
    response: shownPasswordResetSchema,
    errors: { 410: [linkEnded], 429: [tooMany], 503: [busy] },
    example: { body: { token: 'Zk3…' }, response: { email: 'ana@example.com' } },
  },
  completePasswordReset: {
    summary: 'Set a new password with a link',
    description:
      'Uses the link up, sets the password and ends all sessions of the person, who then signs in. If the link was e-mailed, the address is proved.',
    body: completePasswordResetBodySchema,
    response: success('The password is set.'),
    errors: {
      400: [['missing_email', 'The person has no e-mail address to sign in with. Name one']],
      403: [httpsRequired],
      410: [linkEnded],
      429: [tooMany],
      503: [busy],
    },
    example: {
      body: { token: 'Zk3…', password: 'battery staple 12' },
      response: { success: true },
    },
  },
});
