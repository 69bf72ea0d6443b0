import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { Scope } from '@parley/contracts';
import type { CallbackGrant } from '@parley/tools';

export type CallbackTokens = ReturnType<typeof createCallbackTokens>;

interface Payload {
  s: Scope;
  a: CallbackGrant['actor'];
  l: CallbackGrant['allowed'];
  c: CallbackGrant['context'];
  /** Unix milliseconds. */
  e: number;
}

/** Maximum length in the executor's protocol. The token fits into an HTTP header. */
const maxTokenChars = 4_096;
/** Maximum size of a decompressed payload. A valid token is never larger. */
const maxPayloadBytes = 256 * 1024;

/**
 * Tokens with which the code of a custom tool calls tools on behalf of the tool's caller. A token
 * contains the caller's actor, tool list and context, signed with a key derived from SECRETS_KEY
 * (the first key signs, all keys verify), so that any chat process can verify it without a store.
 */
export function createCallbackTokens(secretsKey: string, nowMs: () => number = Date.now) {
  const keys = secretsKey
    .split(',')
    .map((text) =>
      Buffer.from(
        hkdfSync('sha256', Buffer.from(text.trim(), 'base64'), '', 'parley tool callback', 32),
      ),
    );
  const sign = (body: string, key: Buffer): Buffer =>
    createHmac('sha256', key).update(body).digest();
  const pack = (payload: Payload): string => {
    const body = deflateRawSync(JSON.stringify(payload)).toString('base64url');
    return `${body}.${sign(body, keys[0]!).toString('base64url')}`;
  };
  return {
    /** Creates a token for one run of a custom tool, which expires with the run's time limit. */
    mint(scope: Scope, { actor, allowed, context, expiresInMs }: CallbackGrant): string {
      const payload: Payload = {
        s: scope,
        a: actor,
        l: allowed,
        c: context,
        e: nowMs() + expiresInMs,
      };
      const token = pack(payload);
      if (token.length <= maxTokenChars) return token;
      // A thread's params can have any size. If the token is too long, tools called from code
      // do not get them.
      const { params: _params, ...rest } = context;
      const smaller = pack({ ...payload, c: rest });
      if (smaller.length > maxTokenChars)
        throw new Error('The list of tools is too long for a callback token');
      return smaller;
    },
    /** Null for a token that is invalid or has expired. */
    read(token: string): { scope: Scope; grant: Omit<CallbackGrant, 'expiresInMs'> } | null {
      const [body = '', signature = '', more] = token.split('.');
      const given = Buffer.from(signature, 'base64url');
      const isSigned = keys.some((key) => {
        const expected = sign(body, key);
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
      if (!isSigned || more !== undefined || token.length > maxTokenChars) return null;
      const text = inflateRawSync(Buffer.from(body, 'base64url'), {
        maxOutputLength: maxPayloadBytes,
      }).toString();
      const { s, a, l, c, e } = JSON.parse(text) as Payload;
      return e < nowMs() ? null : { scope: s, grant: { actor: a, allowed: l, context: c } };
    },
  };
}
