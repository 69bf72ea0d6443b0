import { assistant, catalog } from './catalog';
import { type Client, push } from './client';
import { type Tenant, createTenant } from './tenant';

let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  tenant = await createTenant();
  client = await tenant.client();
  await push(client, catalog);
});
afterAll(() => tenant.close());

let counter = 0;
const newKey = () => ({ 'Idempotency-Key': `key-${(counter += 1)}` });

describe.each([
  ['/v1/data/product', { data: { name: 'once' } }, 201],
  [`/v1/agents/${assistant.slug}/chat`, { message: 'once' }, 200],
])('POST %s', (path, body, status) => {
  it('is done once for its Idempotency-Key, and answered the same', async () => {
    const key = newKey();
    const first = await client.post(path, body, key);
    const second = await client.post(path, body, key);
    expect([first.status, second.status]).toEqual([status, status]);
    expect(second.body).toEqual(first.body);
  });

  it('is done once when it comes many times at once', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.post(path, body, key)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(status));
  });

  it('is 409 with another body', async () => {
    const key = newKey();
    await client.post(path, body, key);
    const answer = await client.post(path, { ...body, extra: 1, message: 'other', data: { name: 'other' } }, key);
    expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it('is done again without a key, and for another API key', async () => {
    const key = newKey();
    const first = await client.post(path, body, key);
    const other = await (await tenant.client()).post(path, body, key);
    const without = await client.post(path, body);
    expect(new Set([first, other, without].map((answer) => JSON.stringify(answer.body))).size).toBe(3);
  });

  it('refuses a key that is none', async () => {
    expect((await client.post(path, body, { 'Idempotency-Key': 'a'.repeat(300) })).status).toBe(400);
  });

  it('replays a refusal as well', async () => {
    const key = newKey();
    const [first, second] = [await client.post(path, {}, key), await client.post(path, {}, key)];
    expect([first.status, second.status]).toEqual([400, 400]);
    expect(second.body.error).toBe(first.body.error);
  });
});
