import { type Operation, operationsOf } from '@parley/contracts';
import { createTestDatabase, seedPerson } from '@parley/testing';
import { type TestApi, createTestApi } from './testing/create-test-api';

let api: TestApi;
let tenant: number;
beforeAll(async () => {
  api = createTestApi(await createTestDatabase());
  tenant = await api.organization();
  await api.push({ tenant }, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
});
afterAll(() => api.close());

const operations: Operation[] = Object.values({ ...operationsOf.data, ...operationsOf.sync });
const changes = operations.filter(({ method, readOnly }) => method !== 'get' && !readOnly);

const pushed = { resources: { entityTypes: [{ slug: 'note', name: 'Note', schema: {} }] } };
/** The body of each change; `:id` of a path is an existing order. */
const bodies: Record<string, object | undefined> = {
  createEntity: { data: {} },
  changeEntities: { operations: [{ action: 'create', data: {} }] },
  updateEntity: { data: { total: 1 } },
  deleteEntity: undefined,
  syncPush: pushed,
};

test('the table has every change', () => {
  expect(changes.map(({ id }) => id).sort()).toEqual(Object.keys(bodies).sort());
});

test.each(changes.map((operation) => [operation.id, operation] as const))(
  '%s by a person has an entry in the audit log, or events that name the person',
  async (id, { method, path, isAudited }) => {
    const person = await seedPerson(api.db.pool, { tenant, role: 'admin' });
    const key = await api.key({ tenant });
    const { body: order } = await api.call('post', '/v1/data/order', key, { data: {} }).expect(201);
    const requestId = `request-${id}`;
    const url = path.replace(':type', 'order').replace(':id', order.id);
    const headers = { ...person.headers, 'X-Request-Id': requestId };
    const answer = await api.call(method, url, undefined, bodies[id], headers);
    expect(answer.status).toBeLessThan(300);
    const read = async (sql: string) => (await api.db.pool.query(sql, [tenant, requestId])).rows;
    const entries = await read(
      'select actor_id as id from audit_log where tenant = $1 and request_id = $2',
    );
    const events = await read('select actor from events where tenant = $1 and request_id = $2');
    if (isAudited !== false) return expect(entries).toEqual([{ id: person.id }]);
    expect(entries).toEqual([]);
    expect(events).toEqual([{ actor: { type: 'person', id: person.id } }]);
  },
);
