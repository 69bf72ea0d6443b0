import { createChannels } from '@parley/channels';
import { addMember, createPersonLink } from '@parley/identity';
import { closeRedis, connectRedis, waitForRedis } from '@parley/redis';
import { silentLogger } from '@parley/service';
import { until } from '@parley/testing';
import request from 'supertest';
import { createManageApp } from './app';
import { createSignInLimit } from './sign-in-limit';
import { type Person, type TestApi, type World, createTestApi } from './testing/create-test-api';
import { type Mailbox, openMailbox, tokenIn } from './testing/open-mailbox';

let api: TestApi;
let world: World;
let mailbox: Mailbox;
let person: Person;
beforeAll(async () => {
  api = await createTestApi();
  mailbox = await openMailbox(api.deps.box);
});
beforeEach(async () => {
  world = await api.world();
  await mailbox.connect(world);
  person = await api.person(world, 'member');
});
afterAll(async () => {
  await mailbox.stop();
  await api.close();
});

const https = { 'Sec-Fetch-Site': 'same-origin', 'X-Forwarded-Proto': 'https' };
const next = 'battery staple 12';
const post = (path: string, body: object, headers: Record<string, string> = https) =>
  api.call('post', path, { body, headers });
const ask = (email: string) => post('/v1/sign-in/password-reset', { email });
const complete = (token: string, more: object = {}) =>
  post('/v1/sign-in/password-reset/complete', { token, password: next, ...more });
const signIn = (email: string, password: string) => post('/v1/sessions', { email, password });
const me = (of = person) => api.call('get', '/v1/me', { headers: of.headers });
const actions = async () =>
  (await world.call('get', '/v1/audit-log')).body.data.map(
    ({ action }: { action: string }) => action,
  );
const isProved = (id: string) =>
  api.db.pool
    .query('select email_proved_at is not null as is from passwords where user_id = $1', [id])
    .then(({ rows }) => rows[0].is as boolean);
const unprove = (id: string) =>
  api.db.pool.query('update passwords set email_proved_at = null where user_id = $1', [id]);
/** Asks for a link, and returns the token of the e-mail. */
async function linkTo(email: string): Promise<string> {
  const before = mailbox.linksTo(email).length;
  await ask(email).expect(202);
  await until(async () => mailbox.linksTo(email).length > before);
  return tokenIn(mailbox.linksTo(email).at(-1)!);
}

describe('a password reset by e-mail', () => {
  test('sets the password, proves the address and ends all sessions, once', async () => {
    await unprove(person.id);
    const token = await linkTo(person.email.toUpperCase().toLowerCase());
    expect(mailbox.linksTo(person.email)[0]).toMatch(
      /^https:\/\/parley\.example\/console\/#\/reset\/[\w-]{43}$/,
    );
    const shown = await post('/v1/sign-in/password-reset/show', { token }).expect(200);
    expect(shown.body).toEqual({ email: person.email });
    await complete(token, { password: 'short' }).expect(400);
    const answers = await Promise.all([complete(token), complete(token)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410]);
    expect(await isProved(person.id)).toBe(true);
    await me().expect(401);
    await signIn(person.email, person.password).expect(401);
    await signIn(person.email, next).expect(201);
    expect(await actions()).toEqual(
      expect.arrayContaining(['password.reset', 'password.reset_sent']),
    );
    const { rows } = await api.db.pool.query('select * from person_links');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('has the same answer for an unknown address, and sends nothing there', async () => {
    const [known, unknown] = [await ask(person.email), await ask('unknown@example.com')];
    const shapeOf = ({ status, body }: request.Response) => ({ status, body });
    expect(shapeOf(known)).toEqual(shapeOf(unknown));
    expect(shapeOf(known)).toEqual({ status: 202, body: { success: true } });
    await until(async () => mailbox.linksTo(person.email).length === 1);
    expect(mailbox.linksTo('unknown@example.com')).toEqual([]);
  });

  test('begins after the answer: an account at a provider that does not answer is not slower', async () => {
    const order: string[] = [];
    const channels = {
      ...api.deps.channels,
      mailToPerson: async () => {
        order.push('looked up');
        return null;
      },
    };
    const app = createManageApp({ ...api.deps, channels });
    await request(app)
      .post('/v1/sign-in/password-reset')
      .set(https)
      .send({ email: person.email })
      .expect(202);
    order.push('answered');
    await until(async () => order.includes('looked up'));
    expect(order).toEqual(['answered', 'looked up']);
  });

  test.each<[string, (token: string) => Promise<unknown>]>([
    ['a newer one', () => linkTo(person.email)],
    [
      'its time',
      () =>
        api.db.pool.query('update person_links set expires_at = now() where user_id = $1', [
          person.id,
        ]),
    ],
    [
      'a change of the password',
      () =>
        post(
          '/v1/me/password',
          { currentPassword: person.password, newPassword: next },
          person.headers,
        ).expect(200),
    ],
    [
      'a change of the address',
      () =>
        post(
          '/v1/me/email',
          { email: `new-${person.email}`, password: person.password },
          person.headers,
        ).expect(200),
    ],
  ])('ends by %s', async (_name, end) => {
    const token = await linkTo(person.email);
    await end(token);
    expect((await complete(token).expect(410)).body.code).toBe('link_ended');
    await post('/v1/sign-in/password-reset/show', { token }).expect(410);
  });

  test('of a person of two organizations is not sent by an account whose admins could read it', async () => {
    const other = await api.world();
    await addMember(api.db, other.scope, person.id, 'member');
    await ask(person.email).expect(202);
    const single = await api.person(world, 'member');
    await linkTo(single.email);
    expect(mailbox.linksTo(person.email)).toEqual([]);
    // The account of the server sends it.
    const settings = { KAPSO_API_URL: '', ...mailbox.account };
    const channels = createChannels({
      db: api.db,
      box: api.deps.box,
      settings,
      log: silentLogger(),
    });
    const app = createManageApp({ ...api.deps, channels });
    await request(app)
      .post('/v1/sign-in/password-reset')
      .set(https)
      .send({ email: person.email })
      .expect(202);
    await until(async () => mailbox.linksTo(person.email).length === 1);
    await complete(tokenIn(mailbox.linksTo(person.email)[0]!)).expect(200);
  });

  test('that the account of an organization has sent ends when the person joins another one', async () => {
    const token = await linkTo(person.email);
    await addMember(api.db, (await api.world()).scope, person.id, 'member');
    await complete(token).expect(410);
    await signIn(person.email, person.password).expect(201);
  });

  test('goes to each person who has the address, and not to one who signs in at a provider with one that is not proved', async () => {
    const other = await api.person(world, 'member');
    const change = await post(
      '/v1/me/email',
      { email: person.email, password: other.password },
      other.headers,
    );
    expect(change.body.person).toMatchObject({ email: person.email, isEmailProved: false });
    const before = mailbox.linksTo(person.email).length;
    await ask(person.email).expect(202);
    await until(async () => mailbox.linksTo(person.email).length === before + 2);
    await api.db.pool.query(
      `insert into user_identities (issuer, subject, user_id) values ('i', $1, $1)`,
      [other.id],
    );
    await ask(person.email).expect(202);
    await until(async () => mailbox.linksTo(person.email).length === before + 3);
    await complete(tokenIn(mailbox.linksTo(person.email).at(-1)!)).expect(200);
    await signIn(person.email, next).expect(201);
    await signIn(person.email, other.password).expect(201);
  });

  test('is limited for an address and a network address, also for unknown ones, and not as attempts to sign in', async () => {
    const redis = connectRedis({ url: api.redisUrl, role: 'limiter' });
    await waitForRedis(redis, 5_000);
    const admitReset = createSignInLimit(redis, { perPerson: 2, perAddress: 3 }, 'password-reset');
    const keyLimit = {
      addressOf: () => '203.0.113.77',
      unknownKeysPerMinute: Infinity,
      refusal: () => new Error(),
    };
    const app = createManageApp({ ...api.deps, admitReset, keyLimit });
    const statusOf = async (email: string) =>
      (await request(app).post('/v1/sign-in/password-reset').set(https).send({ email })).status;
    const statuses = [];
    for (const email of ['unknown-2', 'unknown-2', 'unknown-2', 'unknown-3', 'unknown-4'])
      statuses.push(await statusOf(`${email}@example.com`));
    await closeRedis(redis);
    expect(statuses).toEqual([202, 202, 429, 202, 429]);
    await signIn(person.email, person.password).expect(201);
  });

  test('is offered when the server or an organization can send e-mails', async () => {
    const offered = async () => (await api.call('get', '/v1/sign-in')).body.passwordResetByEmail;
    expect(await offered()).toBe(true);
    await api.db.pool.query('update integrations set active = false');
    expect(await offered()).toBe(false);
    await api.db.pool.query('update integrations set active = true');
  });

  test('is refused for a page of another site and over plain HTTP', async () => {
    const cross = { ...https, 'Sec-Fetch-Site': 'cross-site' };
    const plain = { 'Sec-Fetch-Site': 'same-origin', Host: 'shop.example' };
    for (const [headers, code] of [
      [cross, 'cross_site'],
      [plain, 'https_required'],
    ] as const)
      for (const [path, body] of [
        ['/v1/sign-in/password-reset', { email: person.email }],
        ['/v1/sign-in/password-reset/complete', { token: 'a', password: next }],
      ] as const)
        expect((await post(path, body, headers).expect(403)).body.code).toBe(code);
  });
});

test('the link of an operator sets a password and an address of a person who has none', async () => {
  await api.db.pool.query('delete from passwords where user_id = $1', [person.id]);
  const token = await createPersonLink(api.db, person.id, {
    purpose: 'password',
    email: null,
    proofTenant: null,
  });
  expect((await post('/v1/sign-in/password-reset/show', { token }).expect(200)).body).toEqual({
    email: null,
  });
  expect((await complete(token).expect(400)).body.code).toBe('missing_email');
  await complete(token, { email: 'Chosen@example.com' }).expect(200);
  await signIn('chosen@example.com', next).expect(201);
  expect(await isProved(person.id)).toBe(false);
});

describe('the own e-mail address', () => {
  const change = (body: object, of = person) => post('/v1/me/email', body, of.headers);

  test('is changed with the password, which ends other sessions, and is proved by the e-mail in a session of the person', async () => {
    const email = `new-${person.email}`;
    const elsewhere = await signIn(person.email, person.password).expect(201);
    expect((await change({ email, password: 'wrong password' }).expect(403)).body.code).toBe(
      'wrong_password',
    );
    const { body } = await change({ email, password: person.password }).expect(200);
    expect(body).toMatchObject({
      person: { email, isEmailProved: false },
      isConfirmationSent: true,
    });
    await me({
      ...person,
      headers: { Cookie: elsewhere.headers['set-cookie']![0]!.split(';')[0]! },
    }).expect(401);
    await signIn(person.email, person.password).expect(401);
    await signIn(email, person.password).expect(201);
    const token = tokenIn(mailbox.linksTo(email)[0]!);
    const outsider = await api.person(world, 'member');
    await post('/v1/me/email/confirm', { token }, outsider.headers).expect(410);
    expect((await me().expect(200)).body.person.isEmailProved).toBe(false);
    await change({ email, password: person.password }).expect(200);
    const second = tokenIn(mailbox.linksTo(email)[1]!);
    await post('/v1/me/email/confirm', { token: second }, person.headers).expect(200);
    await post('/v1/me/email/confirm', { token: second }, person.headers).expect(410);
    expect((await me().expect(200)).body.person.isEmailProved).toBe(true);
    expect(
      (await change({ email, password: person.password }).expect(200)).body.isConfirmationSent,
    ).toBe(false);
    expect(await actions()).toEqual(expect.arrayContaining(['email.changed', 'email.confirmed']));
  });

  test('of someone else can be typed and changes nothing for that person', async () => {
    const other = await api.person(await api.world(), 'member');
    await change({ email: other.email, password: person.password }).expect(200);
    await signIn(other.email, other.password).expect(201);
    expect(await isProved(other.id)).toBe(true);
  });

  test('needs a password', async () => {
    await api.db.pool.query('delete from passwords where user_id = $1', [person.id]);
    const { body } = await change({ email: 'a@example.com', password: person.password }).expect(
      409,
    );
    expect(body.code).toBe('no_password');
  });
});
