import {
  applyIdentityEvent,
  createApiKey,
  createInvitation,
  proveEmail,
  revokeApiKey,
} from '@parley/identity';
import { until } from '@parley/testing';
import type request from 'supertest';
import { type Person, type TestApi, type World, createTestApi } from './testing/create-test-api';
import { type Mailbox, openMailbox, tokenIn } from './testing/open-mailbox';

let api: TestApi;
let world: World;
let admin: Person;
let mailbox: Mailbox;
beforeAll(async () => {
  api = await createTestApi();
  mailbox = await openMailbox(api.deps.box);
});
beforeEach(async () => {
  world = await api.world();
  admin = await api.person(world, 'admin');
});
afterAll(async () => {
  await mailbox.stop();
  await api.close();
});

const https = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const password = 'battery staple 12';
let people = 0;
const newAddress = () => `person-${(people += 1)}@example.com`;
const call = (
  method: 'get' | 'post' | 'patch' | 'delete',
  path: string,
  body?: object,
  person = admin,
) => api.call(method, path, { body, headers: person.headers });
const show = (token: string) =>
  api.call('post', '/v1/invitations/show', { body: { token }, headers: https });
const accept = (body: object, headers: Record<string, string> = https) =>
  api.call('post', '/v1/invitations/accept', { body, headers });
const signIn = (email: string, with_ = password) =>
  api.call('post', '/v1/sessions', { body: { email, password: with_ }, headers: https });
const cookieOf = (response: request.Response) => response.headers['set-cookie']![0]!.split(';')[0]!;
const invite = async (body: object = { role: 'admin' }, person = admin) =>
  (await call('post', '/v1/invitations', body, person).expect(201)).body;
const memberNamed = async (id: string, of = admin) =>
  (await call('get', '/v1/members', undefined, of)).body.data.find(
    (one: { id: string }) => one.id === id,
  );
/** Joins the organization of a person who invites, and returns the id of the new member. */
const join = async (email: string, of = admin): Promise<string> => {
  const token = tokenIn((await invite({ role: 'member' }, of)).link);
  return (await accept({ token, email, password }).expect(201)).body.person.id;
};

describe('an invitation ends with the right of its author', () => {
  const refused = async (token: string) => {
    expect((await show(token).expect(410)).body.code).toBe('invitation_ended');
    await accept({ token }, { ...https, Cookie: admin.headers.Cookie! }).expect(410);
    await accept({ token, email: newAddress(), password }).expect(410);
  };
  const statusOf = async (id: string, of: Person) =>
    (await call('get', '/v1/invitations', undefined, of)).body.data.find(
      (one: { id: string }) => one.id === id,
    ).status;

  test('when an admin is demoted or removed; other invitations stay, and the log names the ended ones', async () => {
    const second = await api.person(world, 'admin');
    const [own, other] = [await invite(), await invite({ role: 'admin' }, second)];
    await call('patch', `/v1/members/${admin.id}`, { role: 'member' }, second).expect(200);
    await refused(tokenIn(own.link));
    expect([await statusOf(own.id, second), await statusOf(other.id, second)]).toEqual([
      'revoked',
      'open',
    ]);
    const { data } = (
      await call('get', '/v1/audit-log?action=invitation.revoked', undefined, second)
    ).body;
    expect(data.map(({ target }: { target: { id: string } }) => target.id)).toEqual([own.id]);
    // The right does not come back with the role.
    await call('patch', `/v1/members/${admin.id}`, { role: 'admin' }, second).expect(200);
    await refused(tokenIn(own.link));
    const again = await invite();
    await call('delete', `/v1/members/${admin.id}`, undefined, second).expect(200);
    await refused(tokenIn(again.link));
    await show(tokenIn(other.link)).expect(200);
  });

  test('when the identity provider demotes or removes the author', async () => {
    const id = world.scope.organizationId.toLowerCase();
    await api.db.pool.query('update organizations set external_id = $1 where id = $2', [
      id,
      world.scope.organizationId,
    ]);
    const source = { isSigned: true, receivedAt: new Date(), purgeGraceDays: 1 };
    const apply = (verb: string, membership: string, role: string) =>
      applyIdentityEvent(
        api.db,
        {
          type: `organizationMembership.${verb}`,
          data: {
            id: `mem_${membership}`,
            role,
            organization: { id, name: 'Acme' },
            public_user_data: { user_id: `clerk_${membership}` },
          },
        },
        source,
      );
    for (const [membership, verb, role] of [
      [`a-${id}`, 'updated', 'org:member'],
      [`b-${id}`, 'deleted', 'org:admin'],
    ] as const) {
      await apply('created', membership, 'org:admin');
      const { rows } = await api.db.pool.query(
        'select user_id as id from memberships where external_id = $1',
        [`mem_${membership}`],
      );
      const invitation = await invite();
      await api.db.pool.query('update invitations set invited_by = $1 where id = $2', [
        rows[0].id,
        invitation.id,
      ]);
      await show(tokenIn(invitation.link)).expect(200);
      await apply(verb, membership, role);
      await refused(tokenIn(invitation.link));
      expect(await statusOf(invitation.id, admin)).toBe('revoked');
    }
  });

  test('when the role was taken away without ending it', async () => {
    const second = await api.person(world, 'admin');
    const { id, link } = await invite();
    const withRole = `update memberships set role = 'member' where user_id = $1`;
    await api.db.pool.query(withRole, [admin.id]);
    await refused(tokenIn(link));
    expect(await statusOf(id, second)).toBe('revoked');
  });

  test('when its API key is revoked or expires; one of a command stays', async () => {
    const command = await createInvitation(api.db, world.scope, { role: 'admin', minutes: 30 });
    const keyOf = async () =>
      createApiKey(api.db, { ...world.scope, name: 'ci', permissions: ['manage'] });
    for (const end of [
      (id: string) => revokeApiKey(api.db, world.scope, id),
      (id: string) =>
        api.db.pool.query('update api_keys set expires_at = now() where id = $1', [id]),
    ]) {
      const { id, key } = await keyOf();
      const { body } = await api
        .call('post', '/v1/invitations', { key, body: { role: 'admin' } })
        .expect(201);
      await show(tokenIn(body.link)).expect(200);
      await end(id);
      await refused(tokenIn(body.link));
      expect(await statusOf(body.id, admin)).toBe('revoked');
    }
    await show(command.token).expect(200);
  });

  test('of two requests at once, the demotion of the author or the acceptance, the later one finds the other', async () => {
    for (let i = 0; i < 5; i += 1) {
      const [author, person] = [
        await api.person(world, 'admin'),
        await api.person(world, 'member'),
      ];
      const { link, id } = await invite({ role: 'admin' }, author);
      const [demoted, accepted] = await Promise.all([
        call('patch', `/v1/members/${author.id}`, { role: 'member' }),
        accept({ token: tokenIn(link) }, { ...https, Cookie: person.headers.Cookie! }),
      ]);
      expect(demoted.status).toBe(200);
      expect([accepted.status, await statusOf(id, admin)]).toEqual(
        accepted.status === 201 ? [201, 'accepted'] : [410, 'revoked'],
      );
    }
  });
});

describe('an e-mail address', () => {
  test('that an outsider has typed keeps no one else out, and is not shown as proved', async () => {
    const email = newAddress();
    const outsider = await join(email);
    expect(await memberNamed(outsider)).toMatchObject({ email, isEmailProved: false });
    const other = await api.world();
    const boss = await api.person(other, 'admin');
    await mailbox.connect(other);
    await invite({ role: 'admin', email }, boss);
    const token = tokenIn(mailbox.linksTo(email).at(-1)!);
    expect((await show(token).expect(200)).body).toMatchObject({ email, isEmailProved: true });
    // The person need not type the address.
    const joined = await accept({ token, password: 'correct horse 43' }).expect(201);
    expect(joined.body.person).toMatchObject({ email, isEmailProved: true });
    expect(await memberNamed(joined.body.person.id, boss)).toMatchObject({
      email,
      isEmailProved: true,
    });
    // The password decides who signs in. No one is locked out.
    expect((await signIn(email).expect(201)).body.person.id).toBe(outsider);
    expect((await signIn(email, 'correct horse 43').expect(201)).body.person.id).toBe(
      joined.body.person.id,
    );
    await signIn(email, 'wrong password').expect(401);
    expect(await memberNamed(outsider)).toMatchObject({ email, isEmailProved: false });
  });

  test('of someone with an account has the same answer as one of no one', async () => {
    const known = await api.person(await api.world(), 'member');
    const answers = [];
    for (const email of [known.email, newAddress()]) {
      const { link } = await invite({ role: 'member', email });
      const { status, body } = await accept({ token: tokenIn(link), email, name: 'Ben', password });
      const { id: _, email: __, ...person } = body.person;
      answers.push({ status, person });
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]).toEqual({
      status: 201,
      person: { name: 'Ben', isEmailProved: false, hasPassword: true },
    });
    await signIn(known.email, known.password).expect(201);
  });

  test('is proved by the e-mail alone: not by the link that the admin sees, nor when another one is typed', async () => {
    await mailbox.connect(world);
    for (const [use, typed] of [
      ['shown', undefined],
      ['sent', newAddress()],
    ] as const) {
      const email = newAddress();
      const { link, isEmailed } = await invite({ role: 'member', email });
      expect(isEmailed).toBe(true);
      const token = tokenIn(use === 'shown' ? link : mailbox.linksTo(email)[0]!);
      const { person } = (
        await accept({ token, password, ...(typed && { email: typed }) }).expect(201)
      ).body;
      expect([use, person]).toMatchObject([use, { email: typed ?? email, isEmailProved: false }]);
    }
  });

  test('that the account of an organization proved is proved in that organization only', async () => {
    await mailbox.connect(world);
    const email = newAddress();
    await invite({ role: 'member', email });
    const joined = await accept({ token: tokenIn(mailbox.linksTo(email)[0]!), password }).expect(
      201,
    );
    const { id } = joined.body.person;
    const other = await api.world();
    const boss = await api.person(other, 'admin');
    const token = tokenIn((await invite({ role: 'member' }, boss)).link);
    await accept({ token }, { ...https, Cookie: cookieOf(joined) }).expect(201);
    expect(await memberNamed(id)).toMatchObject({ isEmailProved: true });
    expect(await memberNamed(id, boss)).toMatchObject({ isEmailProved: false });
    const { data } = (
      await call('get', '/v1/audit-log?action=invitation.accepted', undefined, boss)
    ).body;
    expect(data[0].actor.name).toBe(`${email} (not confirmed)`);
  });

  test('belongs to the one who proved it last; the other still signs in', async () => {
    const first = await api.person(world, 'member');
    const second = await join(first.email);
    await api.db.transaction((tx) => proveEmail(tx, second, first.email, null));
    expect(await memberNamed(first.id)).toMatchObject({ email: first.email, isEmailProved: false });
    expect(await memberNamed(second)).toMatchObject({ email: first.email, isEmailProved: true });
    await signIn(first.email, first.password).expect(201);
  });

  test.each([
    'ceo@a.example',
    'ceo＠a.example',
    'ceo﹫a.example',
    'Ada\nAdmin',
    'A\u001b[31m',
    '\u202eAda',
    '\u200b',
    '...',
  ])('is not a name, nor is a text that looks like another one: %j', async (name) => {
    const token = tokenIn((await invite({ role: 'member' })).link);
    await accept({ token, email: newAddress(), name, password }).expect(400);
  });

  test('gets e-mails without any text that the person of the account has typed', async () => {
    await mailbox.connect(world);
    const email = newAddress();
    const token = tokenIn((await invite({ role: 'member' })).link);
    const name = 'you. Open http://evil.example now';
    await accept({ token, email, name, password }).expect(201);
    await api
      .call('post', '/v1/sign-in/password-reset', { body: { email }, headers: https })
      .expect(202);
    const [text] = await until(async () => mailbox.textsTo(email), {
      isThere: (texts) => texts.length === 1,
    });
    expect(text).toContain('new password');
    expect(text).not.toContain('evil.example');
  });

  test('that many people have costs one hash, like one of no one', async () => {
    const email = newAddress();
    for (let i = 0; i < 4; i += 1) await join(email);
    const { rows } = await api.db.pool.query(
      `select count(distinct split_part(hash, '$', 5))::int as salts, count(distinct hash)::int as hashes from passwords where email = $1`,
      [email],
    );
    expect(rows).toEqual([{ salts: 1, hashes: 1 }]);
  });
});
