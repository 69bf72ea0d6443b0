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
  it('has one effect per Idempotency-Key, and the same response', async () => {
    const key = newKey();
    const first = await client.post(path, body, key);
    const second = await client.post(path, body, key);
    expect([first.status, second.status]).toEqual([status, status]);
    expect(second.body).toEqual(first.body);
  });

  it('has one effect when it is sent several times concurrently', async () => {
    const key = newKey();
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => client.post(path, body, key)),
    );
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(answers.map((answer) => answer.status)).toEqual(Array(5).fill(status));
  });

  it('is answered with 409 when the body differs', async () => {
    const key = newKey();
    await client.post(path, body, key);
    const answer = await client.post(
      path,
      { ...body, extra: 1, message: 'other', data: { name: 'other' } },
      key,
    );
    expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_key_reused']);
  });

  it('has another effect without a key, and for another API key', async () => {
    const key = newKey();
    const first = await client.post(path, body, key);
    const other = await (await tenant.client()).post(path, body, key);
    const without = await client.post(path, body);
    expect(new Set([first, other, without].map((answer) => JSON.stringify(answer.body))).size).toBe(
      3,
    );
  });

  it('refuses an invalid key', async () => {
    expect((await client.post(path, body, { 'Idempotency-Key': 'a'.repeat(300) })).status).toBe(
      400,
    );
  });

  it('repeats a refusal', async () => {
    const key = newKey();
    const [first, second] = [await client.post(path, {}, key), await client.post(path, {}, key)];
    expect([first.status, second.status]).toEqual([400, 400]);
    expect(second.body.error).toBe(first.body.error);
  });
});
