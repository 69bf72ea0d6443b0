import { createTestRedis } from '@parley/testing';
import { closeRedis, connectRedis, waitForRedis } from './connect-redis';
import { createHeldTokens } from './held-tokens';

test('each token is held once and at most as many as allowed, oldest first', async () => {
  const { url } = await createTestRedis();
  const redis = connectRedis({ url, role: 'producer' });
  await waitForRedis(redis, 5_000);
  const tokens = createHeldTokens(redis);
  const added = await Promise.all(
    Array.from({ length: 50 }, (_one, at) => tokens.add(`token-${at}`, 10)),
  );
  expect(added.filter(Boolean)).toHaveLength(10);
  const held = (await tokens.oldest(100)).map(({ token }) => token);
  expect(held).toHaveLength(10);
  expect(await tokens.add(held[0]!, 10)).toBe(true);
  expect(await tokens.add('more', 10)).toBe(false);
  expect(await tokens.add('more', 11)).toBe(true);
  expect(await tokens.oldest(100)).toHaveLength(11);
  await tokens.remove(held);
  expect(await tokens.oldest(100)).toEqual([{ token: 'more', heldSeconds: expect.any(Number) }]);
  await closeRedis(redis);
  await expect(tokens.add('late', 10)).rejects.toThrow();
});
