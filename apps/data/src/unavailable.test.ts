import { createTestDatabase, type TestDatabase } from '@parley/testing';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type TestApi, createTestApi } from './testing/create-test-api';

/** A TCP proxy between the service and PostgreSQL whose connections can be cut. */
class PostgresProxy {
  readonly sockets = new Set<Socket>();
  server!: Server;
  port = 0;

  constructor(private readonly target: { host: string; port: number }) {}

  async open(): Promise<void> {
    this.server = createServer((near) => {
      const far = connect(this.target);
      for (const socket of [near, far]) {
        this.sockets.add(socket);
        socket.on('error', () => {}).on('close', () => (near.destroy(), far.destroy(), this.sockets.delete(socket)));
      }
      near.pipe(far).pipe(near);
    });
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.server.address() as AddressInfo).port;
  }

  async cut(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

let database: TestDatabase;
let proxy: PostgresProxy;
let api: TestApi;
let key: string;
let id: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const url = new URL(database.url);
  proxy = new PostgresProxy({ host: url.hostname, port: Number(url.port) });
  await proxy.open();
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  api = createTestApi({ url: url.href, drop: database.drop });
  const tenant = await api.organization();
  key = await api.key({ tenant });
  await api.push({ tenant }, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
  id = (await api.call('post', '/v1/data/order', key, { data: {} }).expect(201)).body.id;
});
afterAll(async () => {
  await api.close();
  await proxy.cut();
});

const requests = () =>
  [
    ['get', '/v1/entity-types', undefined],
    ['get', '/v1/data/order', undefined],
    ['get', `/v1/data/order/${id}`, undefined],
    ['post', '/v1/data/order', { data: {} }],
    ['post', '/v1/data/order/query', {}],
    ['post', '/v1/data/order/search', { query: 'x' }],
    ['patch', `/v1/data/order/${id}`, { data: {} }],
    ['delete', `/v1/data/order/${id}`, undefined],
    ['post', '/v1/sync', { resources: {} }],
    ['post', '/v1/sync/state', {}],
    ['post', '/v1/sync/pull', {}],
  ] as const;

test('without PostgreSQL every route answers 503 with Retry-After, also for an unknown key, and recovers afterwards', async () => {
  for (let round = 0; round < 2; round += 1) {
    await proxy.cut();
    for (const [method, path, body] of requests()) {
      for (const withKey of [key, `sk_dev_${'b'.repeat(42)}${round}`]) {
        const response = await api.call(method, path, withKey, body);
        expect([method, path, response.status]).toEqual([method, path, 503]);
        expect(response.headers['retry-after']).toBe('2');
        expect(response.body).toEqual({
          error: 'Service temporarily unavailable',
          code: 'unavailable',
          requestId: expect.any(String),
        });
      }
    }
    await proxy.open();
    await api.call('get', '/v1/data/order', key).expect(200);
    await api.call('post', '/v1/data/order', key, { data: { after: round } }).expect(201);
  }
}, 30_000);

test('a create that was interrupted can be retried with its Idempotency-Key and creates one entity', async () => {
  const create = () => api.call('post', '/v1/data/order', key, { data: { tried: 1 } }, { 'Idempotency-Key': 'cut' });
  const attempts = Array.from({ length: 5 }, create);
  const running = Promise.all(attempts.map((attempt) => attempt.then(({ status }) => status)));
  await sleep(5);
  await proxy.cut();
  expect((await running).every((status) => status === 503 || status === 201)).toBe(true);
  await proxy.open();
  // A request whose response could not be stored keeps its claim on the key until the lock expires.
  await api.db.pool.query("update idempotency_records set locked_until = now() - interval '1 s' where key = 'cut'");
  const { body } = await create().expect(201);
  const { rows } = await api.db.pool.query(`select id from entities where data = '{"tried": 1}'`);
  expect(rows).toEqual([{ id: body.id }]);
}, 30_000);
