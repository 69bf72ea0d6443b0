import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { numberVariable } from '../process/config';

const isRange = (text: string): boolean => {
  const [address = '', bits, rest] = text.split('/');
  const maxBits = isIP(address) === 6 ? 128 : 32;
  return (
    isIP(address) !== 0 && rest === undefined && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= maxBits))
  );
};

/** TRUSTED_PROXIES of the gateway and of the services that limit by address. */
export const trustedProxiesVariable = z
  .string()
  .default('')
  .transform((text) =>
    text
      .split(',')
      .map((range) => range.trim())
      .filter(Boolean),
  )
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

interface KeyLimitSettings {
  TRUSTED_PROXIES: string[];
  UNKNOWN_KEYS_PER_ADDRESS: number;
}

/** The limit of unknown keys, for createIdentify of libs/identity. */
export const keyLimitOf = ({ TRUSTED_PROXIES, UNKNOWN_KEYS_PER_ADDRESS }: KeyLimitSettings) => ({
  addressOf: createClientAddress(TRUSTED_PROXIES),
  unknownKeysPerMinute: UNKNOWN_KEYS_PER_ADDRESS,
});

/** The block list of TRUSTED_PROXIES; null when the variable is empty. */
export function trustedProxyList(ranges: readonly string[]): BlockList | null {
  if (ranges.length === 0) return null;
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export const isTrusted = (proxies: BlockList, address: string): boolean =>
  isIP(address) !== 0 && proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Addresses of the gateway. Services are not exposed: only the gateway and other pods reach them. */
const privateRanges =
  '127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 169.254.0.0/16 ::1 fc00::/7 fe80::/10'.split(' ');

/**
 * Returns the function that names the client of a request: the address nearest to the service that is no trusted proxy. Each proxy appends
 * the peer that it saw to X-Forwarded-For, so what a client writes there itself is never reached. A client with IPv6 has at least
 * a network of 64 bits, which counts as one address.
 */
export function createClientAddress(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const proxies = trustedProxyList([...privateRanges, ...trustedProxies])!;
  return ({ headers, socket }) => {
    const chain = String(headers['x-forwarded-for'] ?? '').split(',');
    let address = socket.remoteAddress ?? '';
    while (chain.length > 0 && isTrusted(proxies, address)) {
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
