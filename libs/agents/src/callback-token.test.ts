import { randomBytes } from 'node:crypto';
import type { CallbackGrant } from '@parley/tools';
import { createCallbackTokens } from './callback-token';

const key = () => randomBytes(32).toString('base64');
const scope = { organizationId: 'org_1', tenant: 1, environment: 'production' as const };
const grant: CallbackGrant = {
  actor: { type: 'agent', slug: 'helper', roles: ['clerk'] },
  allowed: ['entity.query'],
  context: { threadId: 't', agentSlug: 'helper', params: { a: 1 }, hops: 1, depth: 2, nesting: 1 },
  expiresInMs: 1_000,
};

it('contains the grant until it expires', () => {
  let now = 5_000;
  const tokens = createCallbackTokens(key(), () => now);
  const token = tokens.mint(scope, grant);
  const { expiresInMs: _, ...rest } = grant;
  expect(tokens.read(token)).toEqual({ scope, grant: rest });
  now += 1_001;
  expect(tokens.read(token)).toBeNull();
});

it('stays valid after a key rotation, but not for another key', () => {
  const [old, fresh] = [key(), key()];
  const token = createCallbackTokens(old).mint(scope, grant);
  expect(createCallbackTokens(`${fresh},${old}`).read(token)).not.toBeNull();
  expect(createCallbackTokens(fresh).read(token)).toBeNull();
});

it('is invalid after any change', () => {
  const tokens = createCallbackTokens(key());
  const token = tokens.mint(scope, grant);
  for (let at = 0; at < token.length - 1; at += 1) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    expect(tokens.read(changed)).toBeNull();
  }
  for (const other of ['', '.', 'a.b', `${token}.`, `${token}.x`, token.split('.')[0]!])
    expect(tokens.read(other)).toBeNull();
});

it('omits params that are too large', () => {
  const tokens = createCallbackTokens(key());
  const params = { text: randomBytes(20_000).toString('base64') };
  const read = tokens.read(tokens.mint(scope, { ...grant, context: { ...grant.context, params } }));
  expect(read!.grant.context.params).toBeUndefined();
  expect(read!.grant.context.threadId).toBe('t');
});
