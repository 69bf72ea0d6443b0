import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { rateLimited } from './errors';
import { listVariable, numberVariable } from '../process/config';

const isRange = (text: string): boolean =>
  isIP(text) !== 0 || (isIP(text.split('/')[0]!) !== 0 && ipaddr.isValidCIDR(text));

/** TRUSTED_PROXIES of the gateway and of the services that limit by address. */
export const trustedProxiesVariable = listVariable()
  .refine((ranges) => ranges.every(isRange), 'must be addresses or ranges (10.0.0.0/8), separated by commas')
  .meta({
    description:
      'Addresses or ranges (CIDR) of the proxies in front of the gateway, separated by commas. The gateway discards X-Forwarded-* headers of other peers. The services also trust private addresses, from which the gateway connects.',
  });

/** The variables of services that check API keys. */
export const keyLimitVariables = {
  TRUSTED_PROXIES: trustedProxiesVariable,
  UNKNOWN_KEYS_PER_ADDRESS: numberVariable(30, 1).meta({
    description:
      'Unknown API keys that one process looks up for an address in a minute. Further keys that it does not know are answered with 429.',
  }),
};

/** The limit of unknown keys, for createIdentify of libs/identity. */
export const keyLimitOf = (config: { TRUSTED_PROXIES: string[]; UNKNOWN_KEYS_PER_ADDRESS: number }) => ({
  addressOf: createClientAddress(config.TRUSTED_PROXIES),
  unknownKeysPerMinute: config.UNKNOWN_KEYS_PER_ADDRESS,
  refusal: (retryAtMs: number) =>
    rateLimited(retryAtMs, 'too_many_unknown_keys', 'Too many unknown API keys from this address'),
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

/** Addresses of the gateway. Services are not exposed: only the gateway and other pods reach them. */
const privateRanges =
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 ::1 fc00::/7 fe80::/10'.split(' ');

/**
 * Returns the function that finds the address of a request's client: the nearest one that is no trusted proxy. Each proxy appends
 * its peer to X-Forwarded-For, so what the client itself wrote there is not used. A client with IPv6 has at least a network of
 * 64 bits, which counts as one address.
 */
export function createClientAddress(ranges: readonly string[]): (request: IncomingMessage) => string {
  const isProxy = trustedProxies([...privateRanges, ...ranges]);
  return ({ headers, socket }) => {
    const chain = String(headers['x-forwarded-for'] ?? '').split(',');
    let address = socket.remoteAddress ?? '';
    while (chain.length > 0 && isProxy(address)) {
      const next = chain.pop()!.trim();
      if (isIP(next) === 0) break;
      address = next;
    }
    return network(address);
  };
}

function network(address: string): string {
  if (isIP(address) === 0) return '';
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return parsed instanceof ipaddr.IPv4 ? parsed.toString() : `${parsed.parts.slice(0, 4).join(':')}/64`;
}
