import type { Contact } from '@parley/contracts';
import { failure } from '../failure';
import type { PermittedCall } from '../tool';
import type { ToolFailure } from '../types';

/**
 * The failure when a messaging tool would reach anyone but the contact of the conversation,
 * and no policy allows `reach` (docs/reference/permissions.md#whom-messaging-tools-reach);
 * null when it may.
 */
export async function denyOthers(
  { name: tool, permissions, context: { contact } }: PermittedCall,
  isContact: (contact: Contact) => boolean | Promise<boolean>,
): Promise<ToolFailure | null> {
  if (permissions.decide('reach', tool).allowed) return null;
  if (contact !== undefined && (await isContact(contact))) return null;
  return failure(
    'permission_denied',
    `Permission denied: ${tool} reaches only the contact of the conversation`,
  );
}
