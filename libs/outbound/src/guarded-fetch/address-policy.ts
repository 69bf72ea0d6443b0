import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Public by its number, yet answered by the host: the wire server of one large cloud. */
const hostServices = new Set(['168.63.129.16']);

/** Documentation space that the address library does not know yet (RFC 9637). */
const documentation6 = ipaddr.IPv6.parseCIDR('3fff::/20');

/**
 * Says whether an address, as a resolver or a socket writes it, belongs to the public internet. IPv6 forms that carry
 * an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) are as public as what they carry. Anything that is
 * not an address, carries a scope id, or lies outside global unicast space is not public.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  return family === 4 ? isPublic4(ipaddr.IPv4.parse(address)) : isPublic6(ipaddr.IPv6.parse(address));
}

const isPublic4 = (address: ipaddr.IPv4): boolean =>
  address.range() === 'unicast' && !hostServices.has(address.toString());

function isPublic6(address: ipaddr.IPv6): boolean {
  const parts = address.parts;
  const carried = carriedAddresses(parts);
  if (carried !== null) return carried.every(isPublic4);
  if (isIsatap(parts) && !isPublic4(embedded(parts, 6))) return false;
  const [first = 0] = parts;
  // 2000::/3 is all that is assigned as global unicast; the library calls everything it does not know unicast.
  return (first & 0xe000) === 0x2000 && address.range() === 'unicast' && !address.match(documentation6);
}

/** The IPv4 addresses that an IPv6 address is only another way of writing, or null when it is none of those. */
function carriedAddresses(parts: number[]): ipaddr.IPv4[] | null {
  const isZero = (from: number, to: number) => parts.slice(from, to).every((part) => part === 0);
  const isMapped = isZero(0, 5) && parts[5] === 0xffff;
  const isTranslated = isZero(0, 4) && parts[4] === 0xffff && parts[5] === 0;
  const isNat64 = parts[0] === 0x64 && parts[1] === 0xff9b && isZero(2, 6);
  if (isMapped || isTranslated || isNat64 || isZero(0, 6)) return [embedded(parts, 6)];
  if (parts[0] === 0x2002) return [embedded(parts, 1)];
  // Teredo: the server as it is, the client with every bit turned.
  if (parts[0] === 0x2001 && parts[1] === 0) return [embedded(parts, 2), embedded(parts, 6, 0xffff)];
  return null;
}

const isIsatap = (parts: number[]): boolean => ((parts[4] ?? 0) & 0xfdff) === 0 && parts[5] === 0x5efe;

function embedded(parts: number[], index: number, mask = 0): ipaddr.IPv4 {
  const [high = 0, low = 0] = [parts[index], parts[index + 1]].map((part) => (part ?? 0) ^ mask);
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}
