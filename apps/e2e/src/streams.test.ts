import { setTimeout as sleep } from 'node:timers/promises';
import { type OpenEventStream, openEventStream, until } from '@parley/testing';
import { createClient, push } from './client';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
let owner: Awaited<ReturnType<Tenant['client']>>;
beforeAll(async () => {
  stack = await startOwnStack({
    services: ['data', 'manage', 'gateway'],
    environment: { RATE_LIMIT_PER_KEY: '1000000', RATE_LIMIT_PER_ORGANIZATION: '1000000' },
  });
  tenant = await createTenant(stack);
  owner = await tenant.client({ permissions: ['*', 'manage'] });
  await push(owner, { entityTypes: [{ slug: 'order', name: 'Order', schema: {} }] });
});
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
});

const open = (key: string, after = '') =>
  openEventStream(`${stack.url}/v1/events/stream?type=entity.created`, {
    Authorization: `Bearer ${key}`,
    ...(after !== '' && { 'Last-Event-ID': after }),
  });
const createdIn = ({ events }: OpenEventStream): string[] =>
  events.flatMap(({ event, data }) =>
    event === 'entity.created' ? [data.entityId as string] : [],
  );

test('events arrive once over restarts of the gateway and the service, which end their streams at once', async () => {
  // Written at the data service, which stays.
  const data = createClient(stack.services.data!.url, owner.key);
  const written: string[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n += 1) {
      const { status, body } = await data.post('/v1/data/order', { data: { n } });
      expect(status).toBe(201);
      written.push(body.id as string);
      // wall clock: the pace of the writer.
      await sleep(10);
    }
  })();

  const seen: string[] = [];
  let stream = await open(owner.key);
  // The create that is under way may have been stored before the stream was open.
  const first = written.length + 1;
  for (const name of ['gateway', 'manage', 'gateway'] as const) {
    const count = written.length;
    await until(() => written.length > count + 20);
    const service = stack.services[name]!;
    const startedMs = performance.now();
    expect(await service.stop()).toBe(0);
    await until(() => stream.isOver);
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    seen.push(...createdIn(stream));
    const { lastId } = stream;
    await service.start();
    stream = await until(
      async () => {
        const again = await open(owner.key, lastId).catch(() => null);
        return again?.response.status === 200 && again;
      },
      { limitMs: 20_000 },
    );
  }
  isOver = true;
  await writing;
  await until(() => createdIn(stream).includes(written.at(-1)!));
  seen.push(...createdIn(stream));
  stream.close();
  expect(seen.filter((id) => written.indexOf(id) >= first)).toEqual(written.slice(first));
  expect(new Set(seen).size).toBe(seen.length);
});

test('a revoked key ends its open stream with the next comment', async () => {
  const { key, keyId } = await tenant.client({ permissions: ['manage'] });
  const stream = await open(key);
  await tenant.revoke(keyId);
  await until(() => stream.isOver, { limitMs: 20_000 });
});
