import { setTimeout as sleep } from 'node:timers/promises';
import { type KapsoServer, rounds, startKapsoServer, until } from '@parley/testing';
import { type Client, createClient, push } from './client';
import { messageReceived, phoneNumberId, unique } from './deliveries';
import { shared, startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

const kills = rounds(4, 40);
const writers = 4;

jest.setTimeout(120_000 + kills * 10_000);

let kapso: KapsoServer;
let stack: Awaited<ReturnType<typeof startOwnStack>>;
let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  kapso = await startKapsoServer();
  stack = await startOwnStack({
    services: ['data', 'webhook-ingest', 'manage', 'worker', 'gateway'],
    environment: {
      ...shared.webhookSecrets,
      KAPSO_API_URL: kapso.url,
      KAPSO_API_KEY: kapso.apiKey,
      MANAGE_RATE_LIMIT_PER_KEY: '1000000',
      MANAGE_RATE_LIMIT_PER_ORGANIZATION: '1000000',
    },
  });
  tenant = await createTenant(stack);
  client = await tenant.client({ permissions: ['*', 'manage'] });
  await push(client, {
    agents: [
      { slug: 'helper', name: 'Helper', systemPrompt: 'You help.', model: 'offline/scripted' },
    ],
  });
  await tenant.query(
    `insert into channel_connections (id, tenant, environment, phone_number_id, phone_number, status, agent_slug, updated_at)
     values ('conn_kills', $1, 'development', $2, '15551234567', 'connected', 'helper', now())`,
    [tenant.scope.tenant, phoneNumberId],
  );
});
afterAll(async () => {
  await tenant?.close();
  await stack?.stop();
  await kapso?.stop();
});

const textsTo = (contact: string) =>
  kapso.sent
    .filter(({ body }) => body.to === contact)
    .map(({ body }) => (body.text as { body: string }).body);

/** A contact whose first message the agent has answered. */
async function newContact(n: number): Promise<string> {
  const contact = `56${Number.parseInt(unique(), 16)}${n}`.slice(0, 14);
  const { path, body, headers } = messageReceived(`wamid.${unique()}`, contact, 'Hello');
  const sent = await createClient(stack.url).send(
    'POST',
    path,
    new TextEncoder().encode(body),
    headers(),
  );
  expect(sent.status).toBe(200);
  await until(() => textsTo(contact).length === 1, { limitMs: 30_000 });
  return contact;
}

/**
 * The provider has a message whose answer the worker does not get, so that few kills are enough.
 */
async function loseAnAnswer(): Promise<void> {
  kapso.faults.push('lost_after');
  await until(() => kapso.faults.length === 0, { everyMs: 1, limitMs: 30_000 });
}

/**
 * Ends the leases of a killed worker, so that the next one asks the provider whether it has their
 * messages. In the full run they end by themselves, after 30 s.
 */
async function endLeases(): Promise<void> {
  if (rounds(false, true)) return;
  await tenant.query(
    'update messages set lease_until = now() where tenant = $1 and lease_until > now()',
    [tenant.scope.tenant],
  );
}

/** Sends a request until it is answered: while manage is down, as its client does. */
async function insist(path: string, body: unknown, headers = {}): Promise<{ id: string }> {
  for (;;) {
    const answer = await client
      .post(path, body, headers)
      .catch(() => ({ status: 0, body: undefined }));
    if (answer.status === 200 || answer.status === 201 || answer.status === 202)
      return answer.body as { id: string };
    if (answer.status !== 0 && answer.status < 500 && answer.status !== 409)
      throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
    // wall clock: the pause of a client before it tries again.
    await sleep(100);
  }
}

it(`of replies and replays during ${kills} kills of manage and worker, none is lost or sent twice`, async () => {
  const contacts = await Promise.all(Array.from({ length: writers }, (_, n) => newContact(n)));
  const [delivery] = await tenant.query(
    `select id from webhook_deliveries where tenant = $1 and status = 'processed' limit 1`,
    [tenant.scope.tenant],
  );
  let isOver = false;
  const written = new Map<string, string[]>(contacts.map((contact) => [contact, []]));
  const replies = contacts.map(async (contact) => {
    for (let n = 0; !isOver; n += 1) {
      const text = `reply ${n} to ${contact}`;
      await insist(
        `/v1/threads/whatsapp:${contact}/messages`,
        { text },
        { 'Idempotency-Key': `${contact}-${n}` },
      );
      written.get(contact)!.push(text);
      // wall clock: the pace of a writer.
      await sleep(40);
    }
  });
  const replays = (async () => {
    while (!isOver) {
      await insist(`/v1/webhook-deliveries/${String(delivery!.id)}/replay`, {});
      // wall clock: the pace of the replays.
      await sleep(200);
    }
  })();
  for (let n = 0; n < kills; n += 1) {
    // wall clock: a kill at a random moment.
    await sleep(300 + Math.random() * 500);
    const service = stack.services[n % 2 === 0 ? 'manage' : 'worker']!;
    if (service === stack.services.worker) await loseAnAnswer();
    await service.kill();
    if (service === stack.services.worker) await endLeases();
    await service.start();
    const lengths = [...written.values()].map((texts) => texts.length);
    await until(() => [...written.values()].every((texts, i) => texts.length > lengths[i]!), {
      limitMs: 30_000,
    });
  }
  isOver = true;
  await Promise.all([...replies, replays]);

  for (const contact of contacts) {
    const expected = written.get(contact)!;
    expect(expected.length).toBeGreaterThanOrEqual(kills);
    const states = await until(
      async () => {
        const found = [];
        for (let cursor = '', more = true; more;) {
          const { body } = await client.get(
            `/v1/threads/whatsapp:${contact}/messages?limit=100&cursor=${cursor}`,
          );
          found.push(
            ...(body.data as {
              content: string;
              author: object | null;
              delivery: { status: string } | null;
            }[]),
          );
          ({ cursor, hasMore: more } = body);
        }
        const shown = found.filter(({ author }) => author !== null).reverse();
        return (
          shown.every(({ delivery: sent }) => /^(sent|failed|unknown)$/.test(sent!.status)) && shown
        );
      },
      { limitMs: 100_000 },
    );
    expect(states.map(({ content }) => content)).toEqual(expected);
    const received = textsTo(contact).slice(1);
    expect(new Set(received).size).toBe(received.length);
    const sent = states
      .filter(({ delivery: end }) => end!.status === 'sent')
      .map(({ content }) => content);
    expect(received).toEqual(expect.arrayContaining(sent));
    expect(received.length - sent.length).toBe(
      states.filter(
        ({ content, delivery: end }) => end!.status !== 'sent' && received.includes(content),
      ).length,
    );
  }
  expect(kapso.problems).toEqual([]);
});
