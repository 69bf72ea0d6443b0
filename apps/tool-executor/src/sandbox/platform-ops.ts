import { createHash, randomFillSync } from 'node:crypto';
import { Refusal } from './engine';
import { sandboxLimits } from './limits';
import { ownValue } from '@parley/contracts';

type Op = (payload: never, bytes: Uint8Array) => unknown;

const maxRandomBytes = 65_536;
const digests: Record<string, string> = {
  'sha-1': 'sha1',
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
};
const urlFields = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

/**
 * Operations that need only this process: pure functions of their values. Payloads come from the
 * code inside and are not checked. Whatever a wrong value makes these functions throw reaches that
 * code as a refusal.
 */
export const platformOps: Record<string, Op> = {
  encode: (text: string) => Buffer.from(text, 'utf8'),
  decode: (options: { label: string; fatal?: boolean; ignoreBOM?: boolean }, bytes) => {
    if (bytes.length > sandboxLimits.bodyBytes) throw tooLarge(sandboxLimits.bodyBytes);
    try {
      const decoder = new TextDecoder(options.label, {
        fatal: options.fatal,
        ignoreBOM: options.ignoreBOM,
      });
      return { text: decoder.decode(bytes), encoding: decoder.encoding };
    } catch (error) {
      throw error instanceof TypeError
        ? new Refusal('TypeError', 'The encoded data was not valid')
        : new Refusal('RangeError', `The encoding "${options.label}" is not supported`);
    }
  },
  atob: (text: string) => {
    const packed = text.replace(/[\t\n\f\r ]/g, '');
    const bare = packed.length % 4 === 0 ? packed.replace(/={1,2}$/, '') : packed;
    if (bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare))
      throw new Refusal('Error', 'The text is not valid base64');
    return Buffer.from(bare, 'base64').toString('latin1');
  },
  btoa: (text: string) => {
    if (/[^\0-\xff]/.test(text))
      throw new Refusal('Error', 'The text has characters outside of Latin1');
    return Buffer.from(text, 'latin1').toString('base64');
  },
  random: (size: number) => {
    if (!(size >= 0 && size <= maxRandomBytes))
      throw new Refusal('RangeError', `At most ${maxRandomBytes} random bytes`);
    return randomFillSync(Buffer.alloc(size));
  },
  digest: (algorithm: string, bytes) => {
    const name = ownValue(digests, algorithm.toLowerCase());
    if (!name) throw new Refusal('Error', `Unrecognized algorithm: ${algorithm}`);
    return createHash(name).update(bytes).digest();
  },
  url: ([text, base]: [string, string?]) => urlParts(URL.parse(text, base)),
  'set-url': ([href, name, value]: [string, string, string]) => {
    const url = new URL(href);
    if ((urlFields as readonly string[]).includes(name) && name !== 'origin')
      (url as never)[name] = value as never;
    return urlParts(url);
  },
  'parse-search': (text: string) => {
    if (text.length > sandboxLimits.searchChars) throw tooLarge(sandboxLimits.searchChars);
    return [...new URLSearchParams(text)];
  },
  'format-search': (pairs: [string, string][]) => new URLSearchParams(pairs).toString(),
};

const tooLarge = (limit: number): Refusal =>
  new Refusal('RangeError', `Larger than ${limit} bytes`);

const urlParts = (url: URL | null): Record<string, string> | null =>
  url && Object.fromEntries(urlFields.map((name) => [name, url[name]]));
