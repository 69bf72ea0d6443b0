import { createDb } from '@parley/db';
import { createTestDatabase, seedOrganization } from '@parley/testing';
import { hasAnswerer, oldestAgent } from './read-agents';

test('an agent answers in its organization, and is the oldest only where it has a configuration', async () => {
  const database = await createTestDatabase();
  const db = createDb({ databaseUrl: database.url });
  const { scope } = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  expect(await hasAnswerer(db, scope, { agentSlug: 'helper' })).toBe(true);
  expect(await hasAnswerer(db, scope, { routerSlug: 'helper' })).toBe(false);
  expect(await oldestAgent(db, scope)).toBe('helper');
  expect(await oldestAgent(db, { ...scope, environment: 'production' })).toBeNull();
  await db.close();
  await database.drop();
});
