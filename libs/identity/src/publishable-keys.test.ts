import { randomBytes } from 'node:crypto';
import { type Db, createDb, createSecretBox, resealStale } from '@parley/db';
import { openTestDatabase, seedOrganization } from '@parley/testing';
import {
  createFindWebsite,
  createPublishableKey,
  revokePublishableKey,
  sealedPublishableKeys,
} from './publishable-keys';

let db: Db;
beforeAll(async () => {
  db = await openTestDatabase(createDb);
});
afterAll(() => db.close());

it('keeps its signing keys when its secret is encrypted again with the first key of SECRETS_KEY', async () => {
  const [older, newer] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const { scope } = await seedOrganization(db.pool);
  const limits = { perVisitor: 1, perAddress: 2, perKey: 3 };
  const website = { name: 'Shop', agentSlug: 'support', origins: ['https://shop.example'], limits };
  const { created } = await createPublishableKey(db, createSecretBox(older), scope, website);
  const find = (secretsKey: string) =>
    createFindWebsite(db, createSecretBox(secretsKey))(created.key);
  const before = await find(older);
  expect(before).toMatchObject({ id: created.id, scope, limits });
  await expect(find(newer)).rejects.toThrow('No key in SECRETS_KEY decrypts this secret');

  const reseal = async (secretsKey: string) =>
    resealStale(createSecretBox(secretsKey), await sealedPublishableKeys(db));
  const name = `publishable key ${created.id} of ${scope.organizationId}`;
  expect(await reseal(newer)).toEqual({ resealed: 0, unreadable: [name] });
  expect(await reseal(`${newer},${older}`)).toEqual({ resealed: 1, unreadable: [] });
  expect(await reseal(`${newer},${older}`)).toEqual({ resealed: 0, unreadable: [] });
  expect(await find(newer)).toEqual(before);
});

it('finds no revoked key after a second', async () => {
  const box = createSecretBox(randomBytes(32).toString('base64'));
  const { scope } = await seedOrganization(db.pool);
  const limits = { perVisitor: 1, perAddress: 2, perKey: 3 };
  const website = { name: 'Shop', agentSlug: 'support', origins: ['https://shop.example'], limits };
  const { created } = await createPublishableKey(db, box, scope, website);
  let nowMs = 1;
  const find = createFindWebsite(db, box, undefined, () => nowMs);
  expect(await find(created.key)).toMatchObject({ id: created.id });
  await revokePublishableKey(db, scope, created.id);
  expect(await find(created.key)).toMatchObject({ id: created.id });
  nowMs += 1_000;
  expect(await find(created.key)).toBeNull();
});
