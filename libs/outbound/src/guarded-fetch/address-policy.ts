import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** In public address space, but answered by the host: the Azure WireServer. */
const hostServices = new Set(['168.63.129.16']);

/** Documentation addresses (RFC 9637), which the address library does not recognize. */
const documentation6 = ipaddr.IPv6.parseCIDR('3fff::/20');

/**
 * Reports whether an address, in the form of a resolver or a socket, is on the public internet. An
 * IPv6 address that contains an IPv4 address (mapped, compatible, NAT64, ISATAP) is public when the
 * IPv4 address is public. Text that is not an address, addresses with a scope id, addresses outside
 * global unicast space, 6to4 and Teredo are not public.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return family === 4
    ? isPublic4(ipaddr.IPv4.parse(address))
    : isPublic6(ipaddr.IPv6.parse(address));
}

const isPublic4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && !hostServices.has(address.toString());

function isPublic6(address: ipaddr.IPv6): boolean {
  const groups = address.parts;
  if (isTranslated4(groups)) return isPublic4(last4(groups));
  if (isIsatap(groups) && !isPublic4(last4(groups))) return false;
  const [first = 0] = groups;
  // Only 2000::/3 is assigned as global unicast. The library reports all addresses that it does not
  // recognize as unicast.
  return (
    (first & 0xe000) === 0x2000 && address.range() === 'unicast' && !address.match(documentation6)
  );
}

/** Whether an IPv6 address represents the IPv4 address in its last 32 bits. */
function isTranslated4(groups: number[]): boolean {
  const isZero = (from: number, to: number) => groups.slice(from, to).every((group) => group === 0);
  const isMapped = isZero(0, 5) && groups[5] === 0xffff;
  const isTranslated = isZero(0, 4) && groups[4] === 0xffff && groups[5] === 0;
  const isNat64 = groups[0] === 0x64 && groups[1] === 0xff9b && isZero(2, 6);
  return isMapped || isTranslated || isNat64 || isZero(0, 6);
}

const isIsatap = (groups: number[]): boolean =>
  ((groups[4] ?? 0) & 0xfdff) === 0 && groups[5] === 0x5efe;

function last4(groups: number[]): ipaddr.IPv4 {
  const [high = 0, low = 0] = groups.slice(6);
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
