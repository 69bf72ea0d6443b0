import type { IncomingMessage } from 'node:http';
import type { Queryable } from '@parley/db';
import {
  emailOfPassword,
  hashPassword,
  type lockInvitation,
  normalEmail,
  proveEmail,
  saltOfEmail,
} from '@parley/identity';
import { badRequest } from '@parley/service';
import { clientAddress } from '../sign-in-limit';
import { type SessionDeps, tooBusy } from './sessions';

/** What a new person signs in with. Its time does not depend on whether someone has the address. */
export async function newCredentials(
  { db, admitSignIn, keyLimit }: SessionDeps,
  request: IncomingMessage,
  { email, password }: { email: string | null; password: string | undefined },
): Promise<{ email: string; hash: string }> {
  if (email === null || password === undefined)
    throw badRequest(
      'Without a session, a password and an e-mail address are required',
      undefined,
      'missing_password',
    );
  await admitSignIn(email, clientAddress(request, keyLimit));
  return { email, hash: await hashPassword(password, await saltOfEmail(db, email)).catch(tooBusy) };
}

type Invitation = Pick<
  NonNullable<Awaited<ReturnType<typeof lockInvitation>>>,
  'email' | 'role' | 'tenant' | 'isMailed' | 'mailProofTenant' | 'isByCommand'
>;

/**
 * Notes what the link shows about the address of the person: the one of the e-mail proves
 * it, and for the first administrator the operator vouches in that organization. False when
 * it shows nothing.
 */
export async function proveInvited(
  tx: Queryable,
  userId: string,
  invitation: Invitation,
): Promise<boolean> {
  const email = await emailOfPassword(tx, userId);
  if (email === null) return false;
  if (invitation.isMailed && invitation.email !== null && normalEmail(invitation.email) === email) {
    await proveEmail(tx, userId, email, invitation.mailProofTenant);
    return true;
  }
  if (!invitation.isByCommand || invitation.role !== 'admin') return false;
  await proveEmail(tx, userId, email, invitation.tenant);
  return true;
}
