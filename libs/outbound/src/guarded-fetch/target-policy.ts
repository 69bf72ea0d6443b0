import { isIP } from 'node:net';
import { isPublicAddress } from './address-policy';

export type TargetDecision =
  | { ok: true; url: URL; isPrivateAllowed: boolean }
  | { ok: false; reason: 'invalid_url' | 'refused'; message: string };

/** Suffixes of private names, which are refused without resolving them. */
const privateSuffixes = [
  'localhost',
  'local',
  'internal',
  'intranet',
  'lan',
  'home.arpa',
  'svc',
  'cluster.local',
];

/** Ports above 1023 of other protocols, whose servers could be misused with an HTTP request. */
const refusedPorts = new Set([
  1433, 1521, 1719, 1720, 1723, 2049, 2375, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061,
  5432, 5672, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 10080, 10250, 11211,
  27017,
]);

/**
 * Checks an address before its name is resolved: scheme, credentials, port, the caller's allowed
 * hosts (exact or `*.domain`, which does not include `domain`) and IP literals. `allowedPrivate`
 * contains the `host` or `host:port` values that may be reached although they are not public.
 */
export function decideTarget(
  input: string,
  {
    allowedHosts,
    allowedPrivate,
  }: { allowedHosts?: readonly string[]; allowedPrivate: ReadonlySet<string> },
): TargetDecision {
  const url = URL.parse(input);
  if (url === null) return { ok: false, reason: 'invalid_url', message: 'Invalid URL' };
  const refuse = (message: string): TargetDecision => ({ ok: false, reason: 'refused', message });
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse('Only http and https addresses are allowed');
  if (url.username !== '' || url.password !== '')
    return refuse('Credentials in an address are not allowed');
  const host = hostOf(url);
  if (host === '') return refuse('The address has no host');
  if (allowedHosts && !allowedHosts.some((pattern) => matchesHost(host, pattern))) {
    return refuse(`Host not in allowedHosts: ${host}`);
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (allowedPrivate.has(host) || allowedPrivate.has(`${host}:${port}`)) {
    return { ok: true, url, isPrivateAllowed: true };
  }
  if (port !== 80 && port !== 443 && (port < 1024 || refusedPorts.has(port)))
    return refuse(`Port not allowed: ${port}`);
  if (isIP(host) !== 0)
    return isPublicAddress(host)
      ? { ok: true, url, isPrivateAllowed: false }
      : refuse(notPublic(host));
  if (
    privateSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)) ||
    !host.includes('.')
  ) {
    return refuse(notPublic(host));
  }
  return { ok: true, url, isPrivateAllowed: false };
}

export const notPublic = (host: string): string =>
  `Address not allowed: ${host} is not on the public internet`;

/** The host in lower case, without the brackets of IPv6 and the dot of a fully qualified name. */
const hostOf = (url: URL): string =>
  url.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

function matchesHost(host: string, pattern: string): boolean {
  const name = pattern.toLowerCase().replace(/\.$/, '');
  return name.startsWith('*.')
    ? host.endsWith(name.slice(1)) && host.length > name.length - 1
    : host === name;
}
