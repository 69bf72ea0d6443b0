import { check, detailText } from '@parley/contracts';
import type { RedisOptions } from 'ioredis';
import { z } from 'zod';

const sentinelForm = 'redis-sentinel://user:password@host1:26379,host2:26379/name';
/** Encryption, user information, addresses, name of the primary, options. */
const sentinelParts = /^redis(s?)-sentinel:\/\/(?:([^@]*)@)?([^@/?#]+)\/([^/?#]+)(\?[^#]*)?$/;
const sentinelPort = 26_379;
const optionsSchema = z.strictObject({
  db: z.string().regex(/^\d+$/, 'must be a number').transform(Number).optional(),
  sentinelUsername: z.string().optional(),
  sentinelPassword: z.string().optional(),
});

/**
 * Reads an address of sentinels, which name the primary. Returns null for the address of one
 * server, which ioredis parses itself. User and password are those of the servers; sentinels have
 * others, in the options. Errors have no values, because an address can contain passwords.
 */
export function readSentinels(url: string): RedisOptions | null {
  if (/^rediss?:\/\//.test(url)) {
    const afterUser = url.replace(/^rediss?:\/\/(.*@)?/, '');
    if (/^[^/?#]*,/.test(afterUser)) throw new Error(`has several addresses. Use ${sentinelForm}`);
    return null;
  }
  const [, tls, user = '', hosts, name, query] = sentinelParts.exec(url) ?? [];
  if (hosts === undefined || name === undefined)
    throw new Error(`must be redis://host:6379 or ${sentinelForm}`);
  const options = check(optionsSchema, Object.fromEntries(new URLSearchParams(query)));
  if (!options.ok) throw new Error(`has an invalid option: ${detailText(options.problems[0]!)}`);
  const [username, password] = user.split(/:(.*)/s).map(decodeURIComponent);
  return {
    ...options.value,
    name: decodeURIComponent(name),
    sentinels: hosts.split(',').map((address, at) => {
      const parsed = URL.parse(`redis://${address}`);
      if (!parsed?.hostname) throw new Error(`has no valid host:port at position ${at + 1}`);
      return {
        host: parsed.hostname.replace(/^\[|\]$/g, ''),
        port: Number(parsed.port || sentinelPort),
      };
    }),
    username: username || undefined,
    password,
    ...(tls && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
  };
}

/** The variables of services that use Redis. */
export const redisVariables = {
  REDIS_URL: z
    .string()
    .superRefine((url, { addIssue }) => {
      try {
        readSentinels(url);
      } catch (error) {
        addIssue((error as Error).message);
      }
    })
    .meta({
      description:
        'Address of Redis 7 or newer with maxmemory-policy noeviction, or of the sentinels that name its primary: redis-sentinel://user:password@host1:26379,host2:26379/name?sentinelPassword=…&db=0. rediss: and rediss-sentinel: use TLS. No data is lost when the contents of Redis are.',
    }),
};
