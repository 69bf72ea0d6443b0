import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Scope } from '@parley/contracts';
import type { CallbackGrant } from '@parley/tools';

export interface CallbackTokens {
  /** The port behind custom tools: what their code may do, for as long as it may run. */
  mint(scope: Scope, grant: CallbackGrant): string;
  /** Null for a token that is not ours, was changed, or is over. */
  read(token: string): { scope: Scope; grant: Omit<CallbackGrant, 'expiresInMs'> } | null;
}

interface Payload {
  s: Scope;
  a: CallbackGrant['actor'];
  l: CallbackGrant['allowed'];
  c: CallbackGrant['context'];
  /** Unix milliseconds. */
  e: number;
}

/** What the executor's protocol and an HTTP header take. */
const maxTokenChars = 4_096;
/** Of a payload, unpacked: a token that unfolds into more was not made here. */
const maxPayloadBytes = 256 * 1024;

/**
 * Tokens with which code in the executor calls tools as its caller: the caller's actor, list and place, signed with a key
 * derived from SECRETS_KEY (the first signs, all verify). They need no store, so any chat process can read them.
 */
export function createCallbackTokens(secretsKey: string, nowMs: () => number = Date.now): CallbackTokens {
  const keys = secretsKey
    .split(',')
    .map((text) => Buffer.from(hkdfSync('sha256', Buffer.from(text.trim(), 'base64'), '', 'parley tool callback', 32)));
  const sign = (body: string, key: Buffer): Buffer => createHmac('sha256', key).update(body).digest();
  const pack = (payload: Payload): string => {
    const body = deflateRawSync(JSON.stringify(payload)).toString('base64url');
    return `${body}.${sign(body, keys[0]!).toString('base64url')}`;
  };
  return {
    mint(scope, { actor, allowed, context, expiresInMs }) {
      const payload: Payload = { s: scope, a: actor, l: allowed, c: context, e: nowMs() + expiresInMs };
      const token = pack(payload);
      if (token.length <= maxTokenChars) return token;
      // A thread's params can be of any size; tools called from code do without them then.
      const { params: _params, ...rest } = context;
      const smaller = pack({ ...payload, c: rest });
      if (smaller.length > maxTokenChars) throw new Error('The list of tools is too long for a callback token');
      return smaller;
    },
    read(token) {
      const [body = '', signature = '', more] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const isOurs = keys.some((key) => {
        const expected = sign(body, key);
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      if (!isOurs || more !== undefined || token.length > maxTokenChars) return null;
      const text = inflateRawSync(Buffer.from(body, 'base64url'), { maxOutputLength: maxPayloadBytes }).toString();
      const { s, a, l, c, e } = JSON.parse(text) as Payload;
      return e < nowMs() ? null : { scope: s, grant: { actor: a, allowed: l, context: c } };
    },
  };
}
