import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { operationsOf } from '@parley/contracts';
import { createManageApp } from '../../../apps/manage/src/app';
import {
  type TestApi,
  type World,
  createTestApi,
} from '../../../apps/manage/src/testing/create-test-api';
import { samples } from '../../../apps/manage/src/testing/samples';
import { thread } from '../../../apps/manage/src/testing/samples/threads';
import { routes } from './generated/management';
import { ParleyApiError, ParleyClient } from './index';
import { type ManageClient, createManageClient, iterate } from './manage';

const servers: Server[] = [];
/** Serves `listener` on a free port and returns its address. */
async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((listening) => server.once('listening', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let api: TestApi;
let world: World;
let baseUrl: string;
let manage: ManageClient;
let apiKey: string;
beforeAll(async () => {
  api = await createTestApi();
  world = await api.world();
  baseUrl = await listen(createManageApp(api.deps));
  apiKey = await api.keyOf(world.scope, ['manage', 'sync']);
  manage = createManageClient(new ParleyClient({ apiKey, baseUrl }));
});
afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await api.close();
});

/** Those that take a key. The others are for browsers with sessions. */
const operations = Object.fromEntries(
  Object.entries({ ...operationsOf.manage, ...operationsOf.toolSecrets }).filter(
    ([, one]) => one.permission !== null,
  ),
);
test.each(Object.keys(operations) as (keyof ManageClient)[])(
  '%s is answered by the service',
  async (id) => {
    const { params, query, body, headers } = await samples[id](world);
    // Requests of a person have a session instead of a key.
    const { 'Idempotency-Key': _, ...ofPerson } = headers ?? {};
    const fetchAs: typeof fetch = (url, init) => {
      const { Authorization, ...others } = init!.headers as Record<string, string>;
      const isOfKey = Object.keys(ofPerson).length === 0;
      return fetch(url, {
        ...init,
        headers: isOfKey
          ? { Authorization: Authorization!, ...others }
          : { ...others, ...ofPerson },
      });
    };
    const client = createManageClient(
      new ParleyClient({ apiKey, baseUrl, fetch: fetchAs, maxRetries: 0 }),
    );
    const call = client[id] as (input: object, options: object) => Promise<unknown>;
    const answer = await call(
      { ...params, ...query, ...(body as object) },
      { idempotencyKey: headers?.['Idempotency-Key'] },
    );
    expect(answer instanceof Response).toBe(routes[id]!.endsWith(' raw'));
  },
);

test('the service accepts a session: it reads the environment that the client names, and knows the person', async () => {
  const person = await api.person(world, 'admin');
  const {
    'Parley-Organization': organizationId,
    'Parley-Environment': _,
    ...ofBrowser
  } = person.headers;
  const fetchAs: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...(init!.headers as object), ...ofBrowser } });
  const managed = (environment: 'development' | 'production') =>
    createManageClient(
      new ParleyClient({
        session: { organizationId: organizationId!, environment },
        baseUrl,
        fetch: fetchAs,
      }),
    );
  const id = await thread(world);
  expect((await managed('development').getThread({ id })).id).toBe(id);
  await expect(managed('production').getThread({ id })).rejects.toMatchObject({ status: 404 });
  await managed('development').takeOverThread({ id });
  const { data } = await managed('development').listAuditLog({ targetId: id });
  expect(data[0]).toMatchObject({ actor: { id: person.id } });
});

test('a raw response has the bytes and the type of the file', async () => {
  const { params } = await samples.getMessageMedia(world);
  const file = await manage.getMessageMedia({ id: params!.id! });
  expect(file.headers.get('Content-Type')).toMatch(/^[a-z]+\/[a-z]+$/);
  expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(0);
});

test('iterates over all pages of a list', async () => {
  const own = await api.world();
  const ids = [await thread(own), await thread(own), await thread(own)];
  const { listThreads } = createManageClient(new ParleyClient({ apiKey: own.key, baseUrl }));
  const found: string[] = [];
  for await (const { id } of iterate(listThreads, { limit: 2, state: 'agent' })) found.push(id);
  expect(found.sort()).toEqual(ids.sort());
});

test('errors are those of the other client, and ids are encoded', async () => {
  const error = await manage.getThread({ id: 'web/ä?1' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ParleyApiError);
  expect(error).toMatchObject({ status: 404, code: 'thread_not_found' });
  await expect(manage.getThread({ id: '' })).rejects.toThrow(TypeError);
});

test('after a lost connection reads are repeated, and changes are not', async () => {
  const seen: string[] = [];
  const address = await listen((request, response) => {
    seen.push(request.method!);
    response.destroy();
  });
  const lost = createManageClient(
    new ParleyClient({ apiKey: 'sk_dev_x', baseUrl: address, maxRetries: 1 }),
  );
  await expect(lost.listThreads()).rejects.toMatchObject({ code: 'unreachable' });
  await expect(lost.createApiKey({ name: 'a', permissions: ['chat'] })).rejects.toMatchObject({
    code: 'unreachable',
  });
  await expect(lost.revokeApiKey({ id: 'a' })).rejects.toMatchObject({ code: 'unreachable' });
  expect(seen).toEqual(['GET', 'GET', 'POST', 'DELETE']);
});

test('inputs and results are typed', () => {
  const compiled = async () => {
    const page = await manage.listExecutions({ toolErrors: true, since: 1 });
    page.data[0]!.toolErrorCount satisfies number;
    // @ts-expect-error -- no such status
    await manage.listExecutions({ status: 'done' });
    // @ts-expect-error -- the id is missing
    await manage.getExecution({});
    // @ts-expect-error -- no such field
    await manage.updateChannel({ id: 'a', robot: 'b' });
    for await (const { author } of iterate(manage.listThreadMessages, { id: 'a' }))
      author?.name satisfies string | undefined;
    iterate(manage.listThreads);
    // @ts-expect-error -- the id is missing
    iterate(manage.listThreadMessages);
    // @ts-expect-error -- not a list
    iterate(manage.getThread, { id: 'a' });
  };
  expect(compiled).toBeInstanceOf(Function);
});
