import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type FlowServer, freePort, startFlowServer, until } from '@parley/testing';
import { createFlowClient } from './flow-client';
import { parseFlowStatus } from './flow-status';
import { signParams } from './sign';

jest.setTimeout(60_000);

const fixtures = join(__dirname, '../../fixtures/flow-api');
const read = (name: string) => JSON.parse(readFileSync(join(fixtures, name), 'utf8'));
const keys = { apiKey: 'KEY-1', secretKey: 'secret-1' };
const scope = { organizationId: 'org_1', tenant: 1, environment: 'development' } as const;
const order = {
  commerceOrder: 'pay_1',
  subject: 'Envío & café ñandú 100%',
  amount: 12_000,
  currency: 'CLP',
  email: 'buyer+tag@example.com',
  urlConfirmation: 'https://svc.example.com/webhook/flow?x=1&y=2',
  urlReturn: 'https://svc.example.com/',
};

let flow: FlowServer;
beforeEach(async () => {
  flow = await startFlowServer(keys);
});
afterEach(async () => {
  expect(flow.problems).toEqual([]);
  await flow.stop();
});
const client = (options = {}) => createFlowClient({ apiUrl: flow.url, scope, ...keys }, options);

describe('signing', () => {
  const { secretKey, vectors } = read('signing-vectors.json') as {
    secretKey: string;
    vectors: { name: string; params: Record<string, string>; s: string }[];
  };
  it.each(vectors)('$name', ({ params, s }) => {
    expect(signParams(params, secretKey)).toBe(s);
  });

  it('sorts keys by code unit, capital letters first', () => {
    expect(signParams({ b: 1, B: 2, a: 3, A: 4 }, 'k')).toBe(
      signParams({ A: 4, B: 2, a: 3, b: 1 }, 'k'),
    );
    expect(signParams({ a: 1, B: 2 }, 'k')).not.toBe(signParams({ aB: 12 }, 'k'));
  });
});

describe('answers', () => {
  it.each(readdirSync(fixtures).filter((name) => name.startsWith('payment.getStatus')))(
    'reads %s',
    (name) => {
      const code = Number(/\.(\d)-/.exec(name)![1]);
      expect(parseFlowStatus(read(name))).toEqual({
        code,
        message: { 1: 'pendiente', 2: 'pagada', 3: 'rechazada', 4: 'anulada' }[code],
        flowOrder: '8765456',
        commerceOrder: 'pay_fixture_0001',
        amount: name.includes('mismatch') ? 100 : 12_000,
        currency: 'CLP',
      });
    },
  );

  it('accepts numbers as texts, and returns null for a malformed status', () => {
    const paid = read('payment.getStatus.2-paid.json');
    expect(
      parseFlowStatus({ ...paid, status: '2', amount: '12000', flowOrder: '1', more: true }),
    ).toMatchObject({
      code: 2,
      amount: 12_000,
      flowOrder: '1',
    });
    for (const wrong of [
      { ...paid, status: 5 },
      { ...paid, amount: '' },
      { ...paid, flowOrder: null },
      null,
      'x',
    ]) {
      expect(parseFlowStatus(wrong)).toBeNull();
    }
  });
});

it('creates an order and gets its status by token, flow order and commerce id', async () => {
  const made = await client().createPayment({ ...order, optional: '{"entityId":"ent_1"}' });
  if (!made.ok) throw new Error(made.message);
  const { token, flowOrder, link } = made.order;
  expect(link).toBe(`${flow.url.replace('/api', '')}/app/web/pay.php?token=${token}`);
  expect(flow.orders).toMatchObject([{ ...order, optional: '{"entityId":"ent_1"}' }]);
  const found = {
    ok: true,
    status: { code: 1, flowOrder, commerceOrder: 'pay_1', amount: 12_000, currency: 'CLP' },
  };
  expect(await client().getStatus(token)).toMatchObject(found);
  expect(await client().getStatusByFlowOrder(flowOrder)).toMatchObject(found);
  expect(await client().getStatusByCommerceId('pay_1')).toMatchObject(found);
});

it.each([
  'error.400.currency-not-enabled.json',
  'error.400.email-invalid.json',
  'error.400.minimum-amount.json',
])('returns the error of Flow: %s', async (name) => {
  const body = read(name);
  flow.setFault('create', { kind: 'error', status: 400, body });
  expect(await client().createPayment(order)).toEqual({ ok: false, reason: 'refused', ...body });
  expect(flow.requests).toHaveLength(1);
});

it('returns the message of a 401, which is a business error or means wrong keys', async () => {
  const body = read('error.401.business.json');
  flow.setFault('getStatus', { kind: 'error', status: 401, body });
  expect(await client().getStatus('t')).toEqual({ ok: false, reason: 'refused', ...body });
  const wrong = createFlowClient({ apiUrl: flow.url, apiKey: 'KEY-1', secretKey: 'other', scope });
  expect(await wrong.getStatus('t')).toMatchObject({
    ok: false,
    reason: 'refused',
    message: 'Invalid signature',
  });
  expect(flow.problems.splice(0)).toEqual(['getStatus has a wrong signature']);
});

describe('failures', () => {
  it.each([['overload'], ['cut']] as const)(
    '%s: retries a status request, and never a creation',
    async (kind) => {
      const made = await client().createPayment(order);
      if (!made.ok) throw new Error(made.message);
      flow.setFault('getStatus', { kind }, { times: 2 });
      expect(await client().getStatus(made.order.token)).toMatchObject({ ok: true });
      flow.setFault('create', { kind, after: true }, { times: 1 });
      expect(await client().createPayment({ ...order, commerceOrder: 'pay_2' })).toMatchObject({
        ok: false,
        reason: 'uncertain',
      });
      expect(flow.orders.map(({ commerceOrder }) => commerceOrder)).toEqual(['pay_1', 'pay_2']);
    },
  );

  it('ends slow calls after their time limit', async () => {
    flow.setFault('create', { kind: 'slow', ms: 60_000 });
    flow.setFault('getStatus', { kind: 'slow', ms: 60_000 });
    const hasty = client({ createTimeoutMs: 100, statusTimeoutMs: 50 });
    expect(await hasty.createPayment(order)).toEqual({
      ok: false,
      reason: 'uncertain',
      message: 'Flow did not answer within 0.1 s',
    });
    expect(await hasty.getStatus('t')).toMatchObject({ ok: false, reason: 'uncertain' });
    expect(flow.requests.map(({ operation }) => operation)).toEqual([
      'create',
      'getStatus',
      'getStatus',
      'getStatus',
    ]);
  });

  it('while Flow hangs, limits only the calls of one organization, and ends a creation without a slot in its time limit', async () => {
    const slots = 4;
    flow.setFault('create', { kind: 'slow', ms: 60_000 }, { times: slots });
    const aborting = new AbortController();
    const hung = Array.from({ length: slots }, () =>
      client({ signal: aborting.signal }).createPayment(order),
    );
    await until(() => flow.requests.length >= slots, { everyMs: 5 });
    const startedAtMs = performance.now();
    expect(await client({ createTimeoutMs: 500 }).createPayment(order)).toEqual({
      ok: false,
      reason: 'unreachable',
      message: `Flow was not called: too many calls to ${new URL(flow.url).host} are waiting for an answer`,
    });
    expect(performance.now() - startedAtMs).toBeLessThan(10_000);
    expect(flow.requests).toHaveLength(slots);
    const other = createFlowClient({
      apiUrl: flow.url,
      ...keys,
      scope: { ...scope, organizationId: 'org_2' },
    });
    expect(await other.createPayment({ ...order, commerceOrder: 'pay_2' })).toMatchObject({
      ok: true,
    });
    aborting.abort();
    expect(await Promise.all(hung)).toEqual(
      Array(slots).fill({
        ok: false,
        reason: 'uncertain',
        message: 'The request to Flow was aborted',
      }),
    );
  });

  it('limits the time of all attempts to create together', async () => {
    const slots = 4;
    const aborting = new AbortController();
    const other = client({ signal: aborting.signal });
    flow.setFault('create', { kind: 'slow', ms: 60_000 }, { times: slots });
    const hung = Array.from({ length: slots }, () => other.createPayment(order));
    await until(() => flow.requests.length >= slots, { everyMs: 5 });
    flow.setFault('create', { kind: 'error', status: 429, body: {} }, { times: 1 });
    const startedAtMs = performance.now();
    const made = client({ createTimeoutMs: 3_000 }).createPayment({
      ...order,
      commerceOrder: 'pay_2',
    });
    // wall clock: the first attempt waits for a slot until the other calls are aborted.
    await sleep(2_000);
    aborting.abort();
    await until(() => flow.requests.length >= slots + 1, { everyMs: 5 });
    // The first attempt gets a slot after 2 s and a 429; the second one hangs.
    flow.setFault('create', { kind: 'slow', ms: 60_000 });
    expect(await made).toEqual({
      ok: false,
      reason: 'uncertain',
      message: 'Flow did not answer within 3 s',
    });
    // With a limit for each, they would take 5 s.
    // wall clock: the limit of both attempts is the subject.
    expect(performance.now() - startedAtMs).toBeLessThan(4_800);
    expect(flow.requests).toHaveLength(slots + 2);
    await Promise.all(hung);
  });

  it('returns a refusal even if its body is too long to be read', async () => {
    flow.setFault('create', { kind: 'error', status: 403, body: { page: 'x'.repeat(300_000) } });
    expect(await client().createPayment(order)).toEqual({
      ok: false,
      reason: 'refused',
      message: 'HTTP 403',
      code: null,
    });
  });

  it('retries a creation that Flow has not received', async () => {
    const unreachable = createFlowClient({
      apiUrl: `http://127.0.0.1:${await freePort()}/api`,
      scope,
      ...keys,
    });
    expect(await unreachable.createPayment(order)).toEqual({
      ok: false,
      reason: 'unreachable',
      message: 'Flow cannot be reached: cannot connect (ECONNREFUSED)',
    });
    flow.setFault('create', { kind: 'error', status: 429, body: {} }, { times: 1 });
    expect(await client().createPayment(order)).toMatchObject({ ok: true });
  });

  it.each<[string, number, string]>([
    ['an HTML page', 200, '<html>maintenance</html>'],
    ['another JSON object', 200, '{"hello":1}'],
    ['a body above the limit', 200, `"${'x'.repeat(300_000)}"`],
    ['a redirect', 307, ''],
  ])('fails for %s', async (_name, status, body) => {
    const server = createServer((_request, response) => {
      response.writeHead(status, { location: 'http://127.0.0.1:1/' });
      response.end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const other = createFlowClient({ apiUrl, scope, ...keys });
    expect(await other.createPayment(order)).toMatchObject({ ok: false });
    expect(await other.getStatus('t')).toMatchObject({ ok: false });
    await new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  });
});
