import { createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { hasAnswerer, oldestAgent } from './read-agents';

test('an agent exists in its organization, and is the oldest only in an environment where it has a configuration', async () => {
  const db = await openTestDatabase(createDb);
  const { scope } = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  expect(await hasAnswerer(db, scope, { agentSlug: 'helper' })).toBe(true);
  expect(await hasAnswerer(db, scope, { routerSlug: 'helper' })).toBe(false);
  expect(await oldestAgent(db, scope)).toBe('helper');
  expect(await oldestAgent(db, { ...scope, environment: 'production' })).toBeNull();
  await db.close();
});
