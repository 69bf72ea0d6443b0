import type { IncomingMessage } from 'node:http';
import type { SignedIn } from '@parley/contracts';
import { createSecretBox } from '@parley/db';
import { type NewCookie, readCookie } from '@parley/service';
import type { z } from 'zod';

/** Enough time to sign in at a provider, or to answer a question. */
const lifeSeconds = 600;

/**
 * What is sealed. It is authentic when it is opened; only its content may have the form of
 * another version.
 */
interface Envelope {
  content: unknown;
  /** Null: it was begun without a session. */
  sessionId: string | null;
  expiresAtMs: number;
}

/** A cookie with content of its own: its name, and what is in it. */
export interface SealedCookie<Content extends z.ZodType> {
  name: string;
  content: Content;
}

export type SealedCookies = ReturnType<typeof createSealedCookies>;

/**
 * Cookies that keep what a session began until its next request, so that any process can continue
 * it. They are encrypted and authenticated with a key derived from SECRETS_KEY: what another host,
 * another port of this machine or the person wrote into them has no content, and what another
 * session began has none in this one.
 */
export function createSealedCookies(secretsKey: string, nowMs: () => number = Date.now) {
  const box = createSecretBox(secretsKey, 'parley sign-in cookies');
  return {
    /**
     * A cookie that the same session may send back within ten minutes. `session`: null without one.
     */
    seal<Content extends z.ZodType>(
      { name }: SealedCookie<Content>,
      content: z.input<Content>,
      session: SignedIn | null,
    ): NewCookie {
      const expiresAtMs = nowMs() + lifeSeconds * 1_000;
      const envelope: Envelope = { content, sessionId: session?.sessionId ?? null, expiresAtMs };
      const value = box.seal(JSON.stringify(envelope), name).toString('base64url');
      return { name, value, maxAgeSeconds: lifeSeconds };
    },

    /**
     * The content of a request's cookie and the session that began it; null when it was not sealed
     * here under this name, has expired, or the request has another session. The session is looked
     * up only if the rest is valid.
     */
    async open<Content extends z.ZodType>(
      { name, content }: SealedCookie<Content>,
      request: IncomingMessage,
      findSession: () => Promise<SignedIn | null>,
    ): Promise<{ content: z.output<Content>; session: SignedIn | null } | null> {
      const text = box.tryOpen(Buffer.from(readCookie(request, name) ?? '', 'base64url'), name);
      if (text === null) return null;
      const envelope = JSON.parse(text) as Envelope;
      const known = content.safeParse(envelope.content);
      if (!known.success || envelope.expiresAtMs <= nowMs()) return null;
      const session = await findSession();
      if (envelope.sessionId !== (session?.sessionId ?? null)) return null;
      return { content: known.data, session };
    },
  };
}

export const removedCookie = ({ name }: { name: string }): NewCookie => ({
  name,
  value: '',
  maxAgeSeconds: 0,
});
