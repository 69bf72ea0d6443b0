import { saveIntegration } from '@parley/db';
import { applyIdentityEvent, createInvitation } from '@parley/identity';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import request from 'supertest';
import { createManageApp } from './app';
import { type Person, type TestApi, type World, createTestApi } from './testing/create-test-api';

let api: TestApi;
let world: World;
let admin: Person;
beforeAll(async () => {
  api = await createTestApi();
});
beforeEach(async () => {
  world = await api.world();
  admin = await api.person(world, 'admin');
});
afterAll(() => api.close());

const https = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const call = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  body?: object,
  person = admin,
) => api.call(method, path, { body, headers: person.headers });
const tokenOf = ({ link }: { link: string }) => link.split('/').at(-1)!;
const accept = (body: object, headers: Record<string, string> = https) =>
  api.call('post', '/v1/invitations/accept', { body, headers });
const credentials = (email: string) => ({ email, name: 'Ben', password: 'battery staple 12' });
const cookieOf = (response: request.Response) => response.headers['set-cookie']![0]!.split(';')[0]!;
const headersOf = (response: request.Response) => ({
  ...admin.headers,
  Cookie: cookieOf(response),
});
const stored = async (table: string) =>
  JSON.stringify((await api.db.pool.query(`select * from ${table}`)).rows);

describe('an invitation', () => {
  const invite = async (body: object = { role: 'member' }) =>
    (await call('post', '/v1/invitations', body).expect(201)).body;

  test('makes the first person who opens its link a member, once', async () => {
    const invitation = await invite();
    expect(invitation).toMatchObject({
      role: 'member',
      status: 'open',
      invitedBy: admin.id,
      isEmailed: false,
    });
    expect(invitation.link).toMatch(/^https:\/\/parley\.example\/console\/#\/join\/[\w-]{43}$/);
    const token = tokenOf(invitation);
    const shown = await api
      .call('post', '/v1/invitations/show', { body: { token }, headers: https })
      .expect(200);
    expect(shown.body).toMatchObject({
      organization: { name: world.scope.organizationId },
      role: 'member',
    });
    const email = `Ben-${Date.now()}@Example.com`;
    const joined = await accept({ token, ...credentials(email), keepSignedIn: true }).expect(201);
    const session = 'select is_kept from sessions where id = $1';
    expect((await api.db.pool.query(session, [joined.body.id])).rows).toEqual([{ is_kept: true }]);
    expect(joined.body.person).toMatchObject({
      email: email.toLowerCase(),
      name: 'Ben',
      hasPassword: true,
    });
    const members = await api
      .call('get', '/v1/members', { headers: headersOf(joined) })
      .expect(200);
    expect(members.body.data.map(({ role }: { role: string }) => role).sort()).toEqual([
      'admin',
      'member',
    ]);
    for (const body of [credentials('other@example.com'), credentials(email)])
      expect((await accept({ token, ...body }).expect(410)).body.code).toBe('invitation_ended');
    await api.call('post', '/v1/invitations/show', { body: { token }, headers: https }).expect(410);
    await accept({ token: 'a'.repeat(43), ...credentials('x@example.com') }).expect(404);
    const [listed] = (await call('get', '/v1/invitations')).body.data;
    expect(listed).toMatchObject({ status: 'accepted', acceptedBy: joined.body.person.id });
    for (const text of [await stored('invitations'), await stored('audit_log')])
      expect(text).not.toContain(token);
  });

  test('is accepted by one of two people who open its link at once', async () => {
    const token = tokenOf(await invite());
    const answers = await Promise.all(
      [1, 2].map((i) => accept({ token, ...credentials(`${i}-${token}@example.com`) })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 410]);
  });

  test('of a signed-in person binds that person', async () => {
    const other = await api.person(await api.world(), 'member');
    const token = tokenOf(await invite({ role: 'admin' }));
    expect((await accept({ token }).expect(400)).body.code).toBe('missing_password');
    const joined = await accept({ token }, { ...https, Cookie: other.headers.Cookie! }).expect(201);
    expect(joined.body.person.id).toBe(other.id);
    await api.call('get', '/v1/invitations', { headers: headersOf(joined) }).expect(200);
  });

  test('ends when it is revoked or expires', async () => {
    const invitation = await invite();
    await call('delete', `/v1/invitations/${invitation.id}`).expect(200);
    await call('delete', `/v1/invitations/${invitation.id}`).expect(200);
    await accept({ token: tokenOf(invitation), ...credentials('a@example.com') }).expect(410);
    const { token, invitation: old } = await createInvitation(api.db, world.scope, {
      role: 'admin',
      minutes: 0,
    });
    await accept({ token, ...credentials('a@example.com') }).expect(410);
    const { data } = (await call('get', '/v1/invitations')).body;
    expect(data.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [old.id, 'expired'],
      [invitation.id, 'revoked'],
    ]);
    expect(Math.round((invitation.expiresAt - invitation.createdAt) / 86_400_000)).toBe(7);
  });

  test('is sent by e-mail, which is not stored', async () => {
    const received: string[] = [];
    let status = 200;
    const resend: Server = createServer(async (incoming, response) => {
      received.push(Buffer.concat(await incoming.toArray()).toString());
      response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"id":"1"}');
    });
    await new Promise<void>((resolve) => resend.listen(0, '127.0.0.1', resolve));
    await saveIntegration(api.db, api.deps.box, world.scope, {
      provider: 'resend',
      config: {
        apiUrl: `http://127.0.0.1:${(resend.address() as AddressInfo).port}`,
        from: 'shop@example.com',
      },
      secrets: { apiKey: 're_1' },
    });
    const sent = await invite({ role: 'member', email: 'ben@example.com' });
    expect(sent.isEmailed).toBe(true);
    expect(JSON.parse(received[0]!)).toMatchObject({
      to: ['ben@example.com'],
      text: expect.stringContaining(sent.link),
    });
    expect(await stored('emails')).not.toContain(tokenOf(sent));
    status = 500;
    expect((await invite({ role: 'member', email: 'ben@example.com' })).isEmailed).toBe(false);
    resend.closeAllConnections();
    resend.close();
    await call('post', '/v1/invitations', { role: 'owner' }).expect(400);
    await call('post', '/v1/invitations', {
      role: 'member',
      email: 'a\r\nBcc: b@example.com',
    }).expect(400);
  });
});

describe('a member', () => {
  const threads = (person: Person) => api.call('get', '/v1/threads', { headers: person.headers });

  test('has a new role from the next request', async () => {
    const member = await api.person(world, 'member');
    await call('get', '/v1/api-keys', undefined, member).expect(403);
    await call('patch', `/v1/members/${member.id}`, { role: 'admin' }).expect(200);
    await call('get', '/v1/api-keys', undefined, member).expect(200);
    await call('patch', `/v1/members/${member.id}`, { role: 'member' }).expect(200);
    await call('get', '/v1/api-keys', undefined, member).expect(403);
  });

  test('is removed with the sessions, which a later membership does not revive', async () => {
    const member = await api.person(world, 'member');
    await threads(member).expect(200);
    await call('delete', `/v1/members/${member.id}`).expect(200);
    await threads(member).expect(401);
    await call('delete', `/v1/members/${member.id}`).expect(404);
    await api.db.pool.query(
      `insert into memberships (id, tenant, user_id, role, verified, updated_at) values ($1, $2, $1, 'member', true, now())`,
      [member.id, world.scope.tenant],
    );
    await threads(member).expect(401);
  });

  test('of two organizations keeps the session in the other one', async () => {
    const member = await api.person(world, 'member');
    const other = await api.world();
    await api.db.pool.query(
      `insert into memberships (id, tenant, user_id, role, verified, updated_at) values ($1, $2, $1, 'member', true, now())`,
      [member.id, other.scope.tenant],
    );
    await call('delete', `/v1/members/${member.id}`).expect(200);
    expect((await threads(member).expect(403)).body.code).toBe('not_a_member');
    const headers = { ...member.headers, 'Parley-Organization': other.scope.organizationId };
    await api.call('get', '/v1/threads', { headers }).expect(200);
  });

  test('who is the last admin is neither removed nor demoted, also not two at once', async () => {
    expect((await call('delete', `/v1/members/${admin.id}`).expect(409)).body.code).toBe(
      'last_admin',
    );
    expect(
      (await call('patch', `/v1/members/${admin.id}`, { role: 'member' }).expect(409)).body.code,
    ).toBe('last_admin');
    for (let i = 0; i < 5; i++) {
      const second = await api.person(world, 'admin');
      const answers = await Promise.all([
        call('patch', `/v1/members/${admin.id}`, { role: 'member' }, second),
        call('delete', `/v1/members/${second.id}`),
      ]);
      const { rows } = await api.db.pool.query(
        `select user_id from memberships where tenant = $1 and role = 'admin'`,
        [world.scope.tenant],
      );
      expect([rows.length, answers.filter(({ status }) => status === 200).length]).toEqual([1, 1]);
      if (rows[0].user_id !== admin.id) admin = second;
    }
  });

  test('of the identity provider keeps its role from there, and removal there ends the sessions on every replica', async () => {
    const id = world.scope.organizationId.toLowerCase();
    await api.db.pool.query('update organizations set external_id = $1 where id = $2', [
      id,
      world.scope.organizationId,
    ]);
    const source = { isSigned: true, receivedAt: new Date(), purgeGraceDays: 1 };
    const data = {
      id: `mem_${id}`,
      role: 'org:member',
      organization: { id, name: 'Acme' },
      public_user_data: { user_id: `clerk_${id}` },
    };
    await applyIdentityEvent(api.db, { type: 'organizationMembership.created', data }, source);
    const managed = (await call('get', '/v1/members')).body.data.find(
      ({ isManaged }: { isManaged: boolean }) => isManaged,
    );
    expect(
      (await call('patch', `/v1/members/${managed.id}`, { role: 'admin' }).expect(409)).body.code,
    ).toBe('managed_member');
    const { createSession } = await import('@parley/identity');
    const { token } = await createSession(api.db, managed.id, { address: null, userAgent: null });
    const replicas = [createManageApp(api.deps), createManageApp(api.deps)];
    const read = (replica: (typeof replicas)[number]) =>
      request(replica)
        .get('/v1/threads')
        .set({ ...admin.headers, Cookie: `__Host-parley_session=${token}` });
    for (const replica of replicas) await read(replica).expect(200);
    const startMs = performance.now();
    await applyIdentityEvent(api.db, { type: 'organizationMembership.deleted', data }, source);
    for (const replica of replicas) await read(replica).expect(401);
    expect(performance.now() - startMs).toBeLessThan(10_000);
  });

  test('is listed page by page', async () => {
    for (let i = 0; i < 3; i++) await api.person(world, 'member');
    const first = (await call('get', '/v1/members?limit=2')).body;
    const second = (await call('get', `/v1/members?limit=2&cursor=${first.cursor}`)).body;
    const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
    expect([new Set(ids).size, first.hasMore, second.hasMore]).toEqual([4, true, false]);
  });
});
