import { assistant, catalog, productType } from './catalog';
import type { Client } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
beforeEach(async () => {
  tenant = await createTenant();
  client = await tenant.client({ permissions: ['sync'] });
});
afterEach(() => tenant.close());

const push = (resources: object, rest: object = {}) =>
  client.post('/v1/sync', { resources, ...rest });

it('reports the changes of a push by kind', async () => {
  const first = await push(catalog);
  expect([first.status, first.body.error]).toEqual([200, undefined]);
  expect(first.body.results).toMatchObject({
    entityTypes: { created: ['product', 'order'], updated: [], deleted: [], unchanged: [] },
    agents: { created: ['assistant'], updated: [], deleted: [], unchanged: [] },
  });
  const again = await push({ ...catalog, agents: [{ ...assistant, name: 'Changed' }] });
  expect(again.body.results).toMatchObject({
    entityTypes: { created: [], updated: [] },
    agents: { created: [], updated: ['assistant'] },
  });
});

it('pulls resources that can be pushed without a change', async () => {
  await push(catalog);
  const pulled = await client.post('/v1/sync/pull', {});
  expect(pulled.status).toBe(200);
  const { resources } = pulled.body;
  expect(resources.agents).toEqual([assistant]);
  expect(resources.entityTypes).toContainEqual(productType);
  const again = await push(resources);
  for (const result of Object.values(
    again.body.results as Record<string, Record<string, string[]>>,
  )) {
    expect([result.created, result.updated, result.deleted]).toEqual([[], [], []]);
  }
});

it('accepts the whole response of a pull, and changes nothing', async () => {
  await push(catalog);
  const { body: pulled } = await client.post('/v1/sync/pull', {});
  const again = await client.post('/v1/sync', pulled);
  expect([again.status, again.body.version]).toEqual([200, pulled.version]);
  for (const { created, updated, deleted } of Object.values(
    again.body.results as Record<string, Record<string, []>>,
  )) {
    expect([created, updated, deleted]).toEqual([[], [], []]);
  }
  const other = await tenant.client({ environment: 'production', permissions: ['sync'] });
  const refused = await other.post('/v1/sync', pulled);
  expect([refused.status, refused.body.details[0].path]).toEqual([400, 'environment']);
});

it('reports the state: slugs, names, versions and hashes', async () => {
  await push(catalog);
  const { status, body } = await client.post('/v1/sync/state', {});
  expect(status).toBe(200);
  expect(JSON.stringify(body)).toContain('assistant');
  const hash = (answer: typeof body) => JSON.stringify(answer);
  const before = hash(body);
  await push({ agents: [{ ...assistant, systemPrompt: 'Another' }] });
  expect(hash((await client.post('/v1/sync/state', {})).body)).not.toBe(before);
});

it.each(['/v1/sync/state', '/v1/sync/pull'])('%s needs no body', async (path) => {
  await push(catalog);
  const [without, empty] = [await client.post(path), await client.post(path, {})];
  expect([without.status, without.body]).toEqual([200, empty.body]);
});

it('applies a push completely or not at all', async () => {
  const broken = { ...assistant, slug: 'not a slug' };
  const answer = await push({ entityTypes: [productType], agents: [broken] });
  expect(answer.status).toBe(400);
  expect(answer.body.details.length).toBeGreaterThan(0);
  expect((await client.post('/v1/sync/pull', {})).body.resources.entityTypes ?? []).toEqual([]);
});

it('changes nothing on a dry run', async () => {
  const answer = await push(catalog, { dryRun: true });
  expect(answer.body).toMatchObject({
    dryRun: true,
    results: { agents: { created: ['assistant'] } },
  });
  expect((await client.post('/v1/sync/pull', {})).body.resources.agents ?? []).toEqual([]);
});

it('deletes missing resources only with prune', async () => {
  await push(catalog);
  await push({ agents: [] });
  expect((await client.post('/v1/sync/pull', {})).body.resources.agents).toHaveLength(1);
  const pruned = await push({ agents: [] }, { prune: true });
  expect(pruned.body.results.agents.deleted).toEqual(['assistant']);
});

it('answers 409 when another push came first', async () => {
  const { version } = (await push(catalog)).body;
  await push({ agents: [{ ...assistant, name: 'Theirs' }] });
  const answer = await push(
    { agents: [{ ...assistant, name: 'Ours' }] },
    { expectedVersion: version },
  );
  expect(answer.status).toBe(409);
});

it('keeps environments apart', async () => {
  await push(catalog);
  const production = await tenant.client({ environment: 'production', permissions: ['sync'] });
  expect((await production.post('/v1/sync/pull', {})).body.resources.agents ?? []).toEqual([]);
});
