import { z } from 'zod';
import {
  acceptInvitationBodySchema,
  changeMemberBodySchema,
  createInvitationBodySchema,
  createdInvitationSchema,
  invitationListSchema,
  invitationParamsSchema,
  invitationTokenBodySchema,
  listInvitationsQuerySchema,
  listMembersQuerySchema,
  memberListSchema,
  memberParamsSchema,
  memberSchema,
  shownInvitationSchema,
} from '../../http/manage/members';
import { startedSessionSchema } from '../../http/manage/sessions';
import { type ErrorExample, defineOperations, get, patch, post, remove } from '../operation';

const admin = { people: 'admin', rateLimited: true } as const;
const table = {
  listMembers: get('/v1/members', 'manage', { people: 'member', rateLimited: true }),
  changeMember: patch('/v1/members/:id', 'manage', admin),
  removeMember: remove('/v1/members/:id', 'manage', admin),
  listInvitations: get('/v1/invitations', 'manage', admin),
  createInvitation: post('/v1/invitations', 'manage', admin),
  revokeInvitation: remove('/v1/invitations/:id', 'manage', admin),
  showInvitation: post('/v1/invitations/show', null, { readOnly: true, sameSite: true }),
  acceptInvitation: post('/v1/invitations/accept', null, { sameSite: true }),
};

const member = {
  id: 'user_01',
  email: 'ana@example.com',
  isEmailProved: true,
  name: 'Ana Rojas',
  role: 'member',
  isManaged: false,
  createdAt: 1763683200000,
  lastSeenAt: 1763683200000,
};
const invitation = {
  id: 'invite_01',
  role: 'member',
  email: 'ben@example.com',
  invitedBy: 'user_01',
  status: 'open',
  createdAt: 1763683200000,
  expiresAt: 1764288000000,
  acceptedAt: null,
  acceptedBy: null,
};
const unknownMember: ErrorExample = ['member_not_found', 'Member not found'];
const lastAdmin: ErrorExample = ['last_admin', 'The organization would have no admin'];
const badCursor: ErrorExample = [
  'invalid_cursor',
  'The cursor is invalid or belongs to another list',
];
export const invitationEnded: ErrorExample = [
  'invitation_ended',
  'The invitation was accepted or revoked, or has expired, or its author may not invite any more',
];
export const unknownInvitation: ErrorExample = ['invitation_not_found', 'Invitation not found'];
/** For operations that look up the token of a link without a session. */
export const tooManyLinks: ErrorExample = [
  'too_many_unknown_links',
  'Too many unknown links from this address',
];
const success = (description: string) =>
  z.object({ success: z.literal(true).describe(description) });

export const memberOperations = defineOperations('People', table, {
  listMembers: {
    summary: 'List members',
    description: 'Lists the people of the organization, in both environments the same.',
    query: listMembersQuerySchema,
    response: memberListSchema,
    errors: { 400: [badCursor] },
    example: { response: { data: [member], cursor: 'c1.WyI…', hasMore: false } },
  },
  changeMember: {
    summary: 'Change the role of a member',
    description: 'The role holds from the next request of the person.',
    params: memberParamsSchema,
    body: changeMemberBodySchema,
    response: memberSchema,
    errors: {
      404: [unknownMember],
      409: [
        lastAdmin,
        ['managed_member', 'The role of this person is changed at the identity provider'],
      ],
    },
    example: { body: { role: 'admin' }, response: { ...member, role: 'admin' } },
  },
  removeMember: {
    summary: 'Remove a member',
    description:
      'The next request of the person to this organization is refused, on every process.',
    params: memberParamsSchema,
    response: success('The person is no member any more.'),
    errors: { 404: [unknownMember], 409: [lastAdmin] },
    example: { response: { success: true } },
  },
  listInvitations: {
    summary: 'List invitations',
    query: listInvitationsQuerySchema,
    response: invitationListSchema,
    errors: { 400: [badCursor] },
    example: { response: { data: [invitation], cursor: 'c1.WyI…', hasMore: false } },
  },
  createInvitation: {
    summary: 'Invite a person',
    description:
      'Creates a link that works once, for 7 days, while its author may invite. With `email` a link is also sent there, if the environment has an e-mail integration. It has a longer token, which proves the address.',
    body: createInvitationBodySchema,
    status: 201,
    response: createdInvitationSchema,
    errors: { 403: [['requires_admin', 'Only an admin of the organization may do this']] },
    example: {
      body: { role: 'member', email: 'ben@example.com' },
      response: {
        ...invitation,
        link: 'https://parley.example/console/#/join/Zk3…',
        isEmailed: true,
      },
    },
  },
  revokeInvitation: {
    summary: 'Revoke an invitation',
    description: 'Its link stops working. Revoking it again changes nothing.',
    params: invitationParamsSchema,
    response: success('The link does not work.'),
    errors: {
      404: [unknownInvitation],
      409: [['invitation_accepted', 'The invitation was accepted']],
    },
    example: { response: { success: true } },
  },
  showInvitation: {
    summary: 'Show an invitation to its holder',
    body: invitationTokenBodySchema,
    response: shownInvitationSchema,
    errors: { 404: [unknownInvitation], 410: [invitationEnded], 429: [tooManyLinks] },
    example: {
      body: { token: 'Zk3…' },
      response: {
        organization: { slug: 'acme', name: 'Acme' },
        role: 'member',
        email: null,
        isEmailProved: false,
        expiresAt: 1764288000000,
      },
    },
  },
  acceptInvitation: {
    summary: 'Accept an invitation',
    description:
      'Makes the signed-in person a member. Without a session, creates a person who signs in with the given e-mail address and password. Several people may have the same address: it is proved by the link in the e-mail. Begins a session and sets its cookie.',
    body: acceptInvitationBodySchema,
    status: 201,
    response: startedSessionSchema,
    errors: {
      400: [
        ['missing_password', 'Without a session, a password and an e-mail address are required'],
      ],
      403: [
        [
          'https_required',
          'Signing in requires HTTPS. Open this address with https://, or use http://localhost',
        ],
      ],
      404: [unknownInvitation],
      410: [invitationEnded],
      429: [['too_many_attempts', 'Too many attempts to sign in'], tooManyLinks],
      503: [['sign_in_unavailable', 'Signing in is temporarily unavailable']],
    },
    example: {
      body: { token: 'Zk3…', email: 'ben@example.com', name: 'Ben', password: 'correct horse' },
      response: {
        id: 'session_01',
        expiresAt: 1763683200000,
        person: {
          id: 'user_02',
          email: 'ben@example.com',
          isEmailProved: true,
          name: 'Ben',
          hasPassword: true,
        },
      },
    },
  },
});
