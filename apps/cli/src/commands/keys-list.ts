import type { ResultOf } from '@parley/client/manage';
import { type ListOptions, printList } from '../manage';

/**
 * `parley keys list`: prints the prefixes of an environment's keys with their
 * settings, newest first.
 */
export const runKeysList = (options: ListOptions): Promise<void> =>
  printList(options, {
    items: 'keys',
    read: (manage) => manage.listApiKeys,
    columns: {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      KEY: ({ prefix }) => `${prefix}…`,
      PERMISSIONS: ({ permissions }) => permissions.join(','),
      ROLE: ({ role }) => role ?? '-',
      'LAST USED': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : timeOf(lastUsedAt, 16)),
      STATUS: (key) => statusOf(key),
    },
  });

const timeOf = (ms: number, length = 10): string => new Date(ms).toISOString().slice(0, length);

function statusOf({ revokedAt, expiresAt }: ResultOf<'listApiKeys'>['data'][number]): string {
  if (revokedAt !== null) return `revoked ${timeOf(revokedAt)}`;
  if (expiresAt === null) return 'active';
  return `${expiresAt <= Date.now() ? 'expired' : 'expires'} ${timeOf(expiresAt)}`;
}
