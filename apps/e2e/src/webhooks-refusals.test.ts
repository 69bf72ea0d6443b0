import { createClient } from './client';
import {
  type SignOptions,
  bytesOf,
  clerk,
  deliver,
  kapsoMessages,
  kapsoProject,
  polar,
  resend,
  sample,
  sign,
  unique,
} from './deliveries';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

const client = createClient(shared.url);
let tenant: Tenant;
beforeAll(async () => {
  tenant = await createTenant();
});
afterAll(() => tenant.close());

/**
 * A valid body for each webhook endpoint, and the statuses of its refusals
 * (docs/reference/errors.md#webhook-errors).
 */
const endpoints = [
  { path: clerk, file: 'clerk/user.created', event: undefined, signature: 401, malformed: 500 },
  {
    path: kapsoProject,
    file: 'kapso/whatsapp.phone_number.created',
    event: 'x',
    signature: 403,
    malformed: 500,
  },
  {
    path: kapsoMessages,
    file: 'kapso/whatsapp.message.received',
    event: 'x',
    signature: 403,
    malformed: 500,
  },
  {
    path: polar,
    file: 'polar/order.created.pending',
    event: undefined,
    signature: 400,
    malformed: 400,
  },
  { path: resend, file: 'resend/email.opened', event: undefined, signature: 400, malformed: 400 },
];
const invalidSignature = {
  error: 'Invalid signature',
  code: 'invalid_signature',
  requestId: expect.any(String),
};
const notUnderstood = {
  400: {
    error: 'The webhook body could not be understood',
    code: 'malformed_body',
    requestId: expect.any(String),
  },
  500: {
    error: 'Webhook could not be processed',
    code: 'processing_failed',
    requestId: expect.any(String),
  },
} as Record<number, object>;

describe.each(endpoints)('$path', ({ path, file, event, signature, malformed }) => {
  const body = bytesOf(sample(file));
  const send = (bytes: Buffer, headers: Record<string, string>) =>
    client.send('POST', path, new Uint8Array(bytes), headers);

  it('acknowledges a signed delivery, without a key and with any content type', async () => {
    const headers = { ...sign(path, body, { event }), 'content-type': 'text/plain' };
    expect(await send(body, headers)).toMatchObject({ status: 200, body: { received: true } });
  });

  it('refuses a wrong secret, a changed body and a missing signature with the same reply', async () => {
    const headers = sign(path, body, { event });
    const secret = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
    const unsigned = Object.fromEntries(
      Object.entries(headers).filter(([name]) => !name.endsWith('-signature')),
    );
    for (const answer of [
      await send(body, sign(path, body, { event, secret })),
      await send(Buffer.concat([body, Buffer.from(' ')]), headers),
      await send(body, unsigned),
      await send(body, {}),
    ])
      expect([answer.status, answer.body]).toEqual([signature, invalidSignature]);
  });

  it('refuses a malformed body', async () => {
    for (const bytes of ['', '{', '[]', '"x"', '{}', '{"type":5,"data":{}}', '\u0000']) {
      const answer = await deliver(path, bytes);
      expect({ bytes, status: answer.status, body: answer.body }).toEqual({
        bytes,
        status: malformed,
        body: notUnderstood[malformed],
      });
    }
  });

  it('accepts only POST, and does not redirect', async () => {
    expect(await client.get(path)).toMatchObject({ status: 405 });
    // Providers do not follow redirects, so a path with a trailing slash must be answered directly.
    const headers = sign(path, body, { event });
    const response = await fetch(`${shared.url}${path}/`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers,
      redirect: 'manual',
    });
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
  });
});

it.each([clerk, polar, resend])(
  '%s refuses a delivery whose time differs by more than five minutes',
  async (path) => {
    const { file, signature } = endpoints.find((endpoint) => endpoint.path === path)!;
    const post = (seconds: number, options: SignOptions = {}) =>
      deliver(path, sample(file), { nowMs: Date.now() + seconds * 1_000, ...options });
    for (const seconds of [-330, 330]) {
      const { status, body } = await post(seconds);
      expect([seconds, status, body]).toEqual([seconds, signature, invalidSignature]);
    }
    for (const seconds of [-240, 240]) expect((await post(seconds)).status).toBe(200);
  },
);

it('a message to a number that is not connected is answered with 500, and stored in the inbox', async () => {
  const item = { ...sample('kapso/whatsapp.message.received'), phone_number_id: unique() };
  const id = unique();
  const answer = await deliver(kapsoMessages, item, { id, event: 'whatsapp.message.received' });
  expect([answer.status, answer.body]).toEqual([
    500,
    {
      error: 'Phone number not found',
      code: 'phone_number_not_found',
      requestId: expect.any(String),
    },
  ]);
  const [kept] = await tenant.query(
    'select status, reason from webhook_deliveries where starts_with(delivery_id, $1)',
    [id],
  );
  expect(kept).toEqual({
    status: 'unattributed',
    reason: expect.stringContaining(item.phone_number_id),
  });
});

it('a body of more than 1 MiB is answered with 413', async () => {
  const body = Buffer.alloc(1024 * 1024 + 1, ' ');
  expect((await client.send('POST', polar, new Uint8Array(body), sign(polar, body))).status).toBe(
    413,
  );
});
