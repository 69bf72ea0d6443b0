import { createDb } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import { hasAnswerer } from './read-agents';

test('an agent exists in its organization', async () => {
  const db = await openTestDatabase(createDb);
  const { scope } = await seedOrganization(db.pool, { agents: [{ slug: 'helper' }] });
  expect(await hasAnswerer(db, scope, { agentSlug: 'helper' })).toBe(true);
  expect(await hasAnswerer(db, scope, { routerSlug: 'helper' })).toBe(false);
  await db.close();
});
