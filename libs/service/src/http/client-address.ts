import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { rateLimited } from './errors';
import { listVariable, numberVariable } from '../process/config';

const isRange = (text: string): boolean =>
  isIP(text) !== 0 || (isIP(text.split('/')[0]!) !== 0 && ipaddr.isValidCIDR(text));

/** TRUSTED_PROXIES of the gateway and of the services that limit by address. */
export const trustedProxiesVariable = listVariable()
  .refine(
    (ranges) => ranges.every(isRange),
    'must be addresses or ranges (10.0.0.0/8), separated by commas',
  )
  .meta({
    description:
      'Addresses or ranges (CIDR) of the proxies in front of the gateway, separated by commas. The gateway discards X-Forwarded-* headers of other peers. The services trust the gateway, which has a private address or is listed, and beyond it only the listed proxies.',
  });

/** The variables of services that check API keys. */
export const keyLimitVariables = {
  TRUSTED_PROXIES: trustedProxiesVariable,
  UNKNOWN_KEYS_PER_ADDRESS: numberVariable(30, 1).meta({
    description:
      'Unknown API keys that one process looks up for an address in a minute. Further keys that it does not know are answered with 429. The same holds for unknown sessions, and for unknown tokens of links.',
  }),
};

const refusals = {
  keys: ['too_many_unknown_keys', 'Too many unknown API keys from this address'],
  sessions: ['too_many_unknown_sessions', 'Too many unknown sessions from this address'],
  links: ['too_many_unknown_links', 'Too many unknown links from this address'],
} as const;

/** The limit of unknown keys, sessions and links, for libs/identity. */
export const keyLimitOf = (config: {
  TRUSTED_PROXIES: string[];
  UNKNOWN_KEYS_PER_ADDRESS: number;
}) => ({
  addressOf: createClientAddress(config.TRUSTED_PROXIES),
  unknownKeysPerMinute: config.UNKNOWN_KEYS_PER_ADDRESS,
  refusal: (retryAtMs: number, kind: keyof typeof refusals) =>
    rateLimited(retryAtMs, ...refusals[kind]),
});

/** Returns the check whether an address is in one of the ranges. */
export function trustedProxies(ranges: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    if (bits === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(bits), familyOf(address));
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * Addresses from which the gateway connects. Services are not exposed: only the gateway and other
 * pods reach them.
 */
const privateRanges =
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 ::1 fc00::/7 fe80::/10'.split(
    ' ',
  );

type AddressedRequest = Pick<IncomingMessage, 'headers'> & {
  socket: { remoteAddress?: string | undefined };
};

/**
 * Returns the function that finds the address of a request's client: the nearest one that is no
 * trusted proxy. Each proxy appends its peer to X-Forwarded-For, so what the client itself wrote
 * there is not used. The peer of a service is the gateway, which may have a private address.
 * Beyond it only the listed proxies are believed: clients have private addresses too. An address
 * that cannot be read ends the chain. A client with IPv6 has at least a network of 64 bits, which
 * counts as one address.
 */
export function createClientAddress(
  ranges: readonly string[],
): (request: AddressedRequest) => string {
  const isGateway = trustedProxies([...privateRanges, ...ranges]);
  const isProxy = trustedProxies(ranges);
  return ({ headers, socket }) => {
    const chain = String(headers['x-forwarded-for'] ?? '').split(',');
    let address = readAddress(socket.remoteAddress ?? '');
    let isBelieved = isGateway;
    while (address !== undefined && isBelieved(address)) {
      const next = readAddress(chain.pop() ?? '');
      if (next === undefined) break;
      address = next;
      isBelieved = isProxy;
    }
    return address === undefined ? '' : networkOf(address);
  };
}

/** Quotes are those of the header Forwarded; some proxies write both headers with one function. */
const quoted = /^"(.*)"$/;
const withPort = /^([^:]*|\[.*\]):\d{1,5}$/;
const bracketed = /^\[(.*)\]$/;

/**
 * Reads an address as proxies write it: `203.0.113.9`, `203.0.113.9:40000`, `2001:db8::1`,
 * `[2001:db8::1]` or `[2001:db8::1]:443`, also in quotes or with a zone. An IPv4 address in IPv6
 * form becomes an IPv4 address. Undefined for any other text.
 */
function readAddress(text: string): string | undefined {
  const unquoted = text.trim().replace(quoted, '$1');
  const address = unquoted.replace(withPort, '$1').replace(bracketed, '$1');
  return isIP(address) === 0 ? undefined : ipaddr.process(address.replace(/%.*$/, '')).toString();
}

function networkOf(address: string): string {
  const parsed = ipaddr.parse(address);
  if (parsed instanceof ipaddr.IPv4) return address;
  const network = new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]);
  return `${network.toString()}/64`;
}
