import { type Operation, type Permission, operationsOf } from '@parley/contracts';
import { endSessions } from '@parley/identity';
import {
  type CallOptions,
  type Method,
  type Person,
  type TestApi,
  type World,
  createTestApi,
} from './testing/create-test-api';
import { samples } from './testing/samples';
import type { ManageOperation, Sample } from './testing/samples/sample';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const operations = Object.entries<Operation>({
  ...operationsOf.manage,
  ...operationsOf.toolSecrets,
}).map(([id, operation]) => [id as ManageOperation, operation] as const);
/** Secrets of tools belong to pushes. */
const permissionOf = ({ path, orManage }: Operation) =>
  orManage ? 'chat' : path.startsWith('/v1/tool-secrets') ? 'sync' : 'manage';
/** A key that may call everything that the service serves. */
const keyOf = (world: World) => api.keyOf(world.scope, ['manage', 'sync']);
const isRead = ({ method, readOnly }: Operation) => method === 'get' || readOnly === true;

/** Sends the sample with another key or other headers. */
function send({ method, path }: Operation, sample: Sample, options: CallOptions) {
  const filled = path.replace(/:(\w+)/g, (_, name: string) =>
    encodeURIComponent(sample.params?.[name] ?? ''),
  );
  const query = sample.query ? `?${new URLSearchParams(sample.query)}` : '';
  const { headers, ...rest } = options;
  return api.call(method as Method, filled + query, {
    body: sample.body,
    ...rest,
    headers: { ...sample.headers, ...headers },
  });
}

const entriesOf = async ({ scope }: World): Promise<number> => {
  const { rows } = await api.db.pool.query<{ n: number }>(
    'select count(*)::int as n from audit_log where tenant = $1',
    [scope.tenant],
  );
  return rows[0]!.n;
};

describe.each(operations)('%s', (id, operation) => {
  test('names the people who may call it, and requires its permission', () => {
    if (operation.permission !== null) expect(operation.permission).toBe(permissionOf(operation));
    if (operation.permission !== null) expect(operation.people).toBeDefined();
  });

  if (operation.security === 'session') {
    test('refuses callers without a session, and with an ended one', async () => {
      const world = await api.world();
      const sample = await samples[id](world);
      const { Cookie: cookie, ...headers } = sample.headers!;
      await send(operation, { ...sample, headers }, {}).expect(401);
      await send(operation, { ...sample, headers }, { key: await keyOf(world) }).expect(401);
      await api.db.pool.query('update sessions set revoked_at = now()');
      await send(operation, sample, { headers: { Cookie: cookie! } }).expect(401);
    });
  }

  if (operation.permission !== null) {
    test('serves people by their role, in their own organization, from its own pages', async () => {
      const world = await api.world();
      const { headers: ofSample, ...sample } = await samples[id](world);
      const as = ({ headers }: Person, more: Record<string, string> = {}) =>
        send(operation, sample, { headers: { ...ofSample, ...headers, ...more } });
      const [admin, member, outsider] = [
        await api.person(world, 'admin'),
        await api.person(world, 'member'),
        await api.person(await api.world(), 'admin'),
      ];
      const before = await entriesOf(world);
      const organization = { 'Parley-Organization': world.scope.organizationId };
      expect((await as(outsider, organization).expect(403)).body.code).toBe('not_a_member');
      if (operation.method !== 'get')
        expect((await as(admin, { 'Sec-Fetch-Site': 'cross-site' }).expect(403)).body.code).toBe(
          'cross_site',
        );
      const ended = await api.person(world, 'admin');
      await endSessions(api.db, ended.id);
      await as(ended).expect(401);
      if (operation.people === 'admin')
        expect((await as(member).expect(403)).body.code).toBe('requires_admin');
      expect(await entriesOf(world)).toBe(before);
      const response = await as(operation.people === 'admin' ? admin : member);
      expect([response.status, response.status < 400 ? null : response.body]).toEqual([
        operation.status ?? 200,
        null,
      ]);
    });

    test('refuses callers without a key, without the permission, and keys with a role', async () => {
      const world = await api.world();
      const sample = await samples[id](world);
      const before = await entriesOf(world);
      await send(operation, sample, {}).expect(401);
      const permission = permissionOf(operation);
      const refused = {
        manage: [['*'], ['chat', 'data', 'sync']],
        sync: [['manage'], ['chat', 'data']],
        chat: [['sync']],
      }[permission];
      for (const permissions of refused as Permission[][]) {
        const key = await api.keyOf(world.scope, permissions);
        const { body } = await send(operation, sample, { key }).expect(403);
        const error = `API key does not have ${permission} permission`;
        expect(body).toMatchObject({ code: 'missing_permission', error });
      }
      const key = await api.keyOf(world.scope, [permission], { role: 'clerk' });
      // With `chat` a role is possible: what it starts is restricted by it.
      if (permission !== 'chat') await send(operation, sample, { key }).expect(403);
      expect(await entriesOf(world)).toBe(before);
    });

    if (operation.params !== undefined) {
      test('does not find what belongs to another organization or environment', async () => {
        const world = await api.world();
        const sample = await samples[id](world);
        const others = [await api.world(), await api.sibling(world, 'production')];
        const [other, sibling] = others as [World, World];
        const before = await entriesOf(world);
        const { body } = await send(operation, sample, { key: await keyOf(other) }).expect(404);
        expect(body.error).not.toContain(world.scope.organizationId);
        if (!sample.isOfOrganization)
          await send(operation, sample, { key: await keyOf(sibling) }).expect(404);
        expect([await entriesOf(world), await entriesOf(other)]).toEqual([before, 0]);
      });
    } else if (isRead(operation)) {
      test('shows nothing of another organization or environment', async () => {
        const world = await api.world();
        const sample = await samples[id](world);
        const { text } = await send(operation, sample, { key: await keyOf(world) }).expect(200);
        const { text: ofOther } = await send(operation, sample, {
          key: await keyOf(await api.world()),
        }).expect(200);
        for (const [name] of text.matchAll(/\b[a-z]{2,12}_[0-9a-z]{20,}\b/g))
          expect(ofOther).not.toContain(name);
      });
    }
  }

  test(
    isRead(operation)
      ? 'reads without an entry in the audit log'
      : 'writes one entry to the audit log',
    async () => {
      const world = await api.world();
      const sample = await samples[id](world);
      const before = await entriesOf(world);
      const key = operation.permission === null ? undefined : await keyOf(world);
      const response = await send(operation, sample, { key });
      expect(response.headers['cache-control']).toMatch(/\bno-store\b/);
      expect([response.status, response.status < 400 ? null : response.body]).toEqual([
        operation.status ?? 200,
        null,
      ]);
      expect((await entriesOf(world)) - before).toBe(
        isRead(operation) || operation.isAudited === false ? 0 : 1,
      );
    },
  );
});
