import { isIP } from 'node:net';
import { isPublicAddress } from './address-policy';

export type TargetDecision =
  { ok: true; url: URL; isPrivateAllowed: boolean } | { ok: false; reason: 'invalid_url' | 'refused'; message: string };

/** Names that only ever lead inside; refused before anything is resolved. */
const insideSuffixes = ['localhost', 'local', 'internal', 'intranet', 'lan', 'home.arpa', 'svc', 'cluster.local'];

/** Above 1023, the ports where something else than HTTP listens and may be talked into mischief by an HTTP request. */
const refusedPorts = new Set([
  1433, 1521, 1719, 1720, 1723, 2049, 2375, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5672, 6000,
  6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042, 10080, 10250, 11211, 27017,
]);

/**
 * Decides on an address before it is resolved: scheme, credentials, port, the caller's list of hosts (exact or
 * `*.domain`, which does not include `domain` itself) and IP literals. `allowedPrivate` holds `host` or `host:port`
 * that may be reached although they are not public.
 */
export function decideTarget(
  input: string,
  { allowedHosts, allowedPrivate }: { allowedHosts?: readonly string[]; allowedPrivate: ReadonlySet<string> },
): TargetDecision {
  const url = URL.parse(input);
  if (url === null) return { ok: false, reason: 'invalid_url', message: 'Invalid URL' };
  const refuse = (message: string): TargetDecision => ({ ok: false, reason: 'refused', message });
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return refuse('Only http and https addresses are allowed');
  if (url.username !== '' || url.password !== '') return refuse('Credentials in an address are not allowed');
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
    return isPublicAddress(host) ? { ok: true, url, isPrivateAllowed: false } : refuse(inside(host));
  if (insideSuffixes.some((suffix) => host === suffix || host.endsWith(`.${suffix}`)) || !host.includes('.')) {
    return refuse(inside(host));
  }
  return { ok: true, url, isPrivateAllowed: false };
}

export const inside = (host: string): string => `Address not allowed: ${host} is not on the public internet`;

/** Lower case, without the brackets of IPv6 and the dot of a fully qualified name. */
const hostOf = (url: URL): string =>
  url.hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');

function matchesHost(host: string, pattern: string): boolean {
  const wanted = pattern.toLowerCase().replace(/\.$/, '');
  return wanted.startsWith('*.') ? host.endsWith(wanted.slice(1)) && host.length > wanted.length - 1 : host === wanted;
}
