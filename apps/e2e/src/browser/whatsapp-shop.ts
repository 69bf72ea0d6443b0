import { type KapsoServer, startKapsoServer, until } from '@parley/testing';
import { createClient, push } from '../client';
import { kapsoMessages, phoneNumberId, sample, sign, unique } from '../deliveries';
import { shared } from '../stack';
import { type ConsoleKit, useConsole } from './console-kit';
import { connectNumber, textTo } from './whatsapp-number';

/** A shop whose agent answers on WhatsApp, at a stand-in of Kapso. */
export interface WhatsappShop {
  app: ConsoleKit;
  kapso: () => KapsoServer;
  /** A customer that no other test uses. */
  newCustomer(): string;
  /** A text of a customer, as the provider delivers it. */
  write(customer: string, text: string): Promise<void>;
  /** A message of another type: its own part, and Kapso's description of it. */
  send(customer: string, type: string, own: object, kapso?: object): Promise<void>;
  /** Reports the status of a message that was sent to a customer. */
  report(
    messageId: string,
    customer: string,
    status: 'delivered' | 'read' | 'failed',
  ): Promise<void>;
  /** The id of the thread of a customer, when it exists. */
  threadOf(customer: string): Promise<string>;
  messagesOf(threadId: string): Promise<{ role: string; content: string }[]>;
}

export function useWhatsappShop(): WhatsappShop {
  let kapso: KapsoServer;
  let count = 0;
  // Services load files from the public internet and from the address of this variable only.
  const app = useConsole({
    async ownStack() {
      kapso = await startKapsoServer();
      return {
        services: ['data', 'chat', 'worker', 'manage', 'webhook-ingest', 'gateway'],
        environment: {
          KAPSO_API_URL: kapso.url,
          KAPSO_API_KEY: kapso.apiKey,
          ...shared.webhookSecrets,
        },
      };
    },
  });
  beforeAll(async () => {
    await push(app.owner, {
      entityTypes: [
        {
          slug: 'customer',
          name: 'Customer',
          schema: { name: 'string', phone: 'string', email: 'string' },
        },
        {
          slug: 'order',
          name: 'Orders',
          schema: { number: 'string', customer: { type: 'string', references: 'customer' } },
        },
      ],
      agents: [
        {
          slug: 'shop',
          name: 'Shop',
          systemPrompt: 'You sell tents.',
          model: 'openai/gpt-5-mini',
          tools: ['thread.handoff'],
        },
      ],
    });
    await connectNumber(app.tenant, phoneNumberId);
  });
  afterAll(() => kapso?.stop());
  afterEach(() => expect(kapso.problems).toEqual([]));

  const post = async (path: string, body: string, headers: Record<string, string>) =>
    expect((await createClient(app.stack.url).send('POST', path, body, headers)).status).toBe(200);
  const deliver = (event: string, content: object) => {
    const body = JSON.stringify(content);
    return post(kapsoMessages, body, sign(kapsoMessages, Buffer.from(body), { event }));
  };
  return {
    app,
    kapso: () => kapso,
    newCustomer: () => `5691${String(Date.now()).slice(-6)}${(count += 1)}`,
    write(customer, text) {
      const { path, body, headers } = textTo(phoneNumberId, customer, text);
      return post(path, body, headers());
    },
    send(customer, type, own, more = {}) {
      const event = 'whatsapp.message.received';
      const { message, conversation, ...rest } = sample(`kapso/${event}`);
      for (const key of ['from_user_id', 'username', 'business_scoped_user_id', 'text']) {
        delete message[key];
        delete conversation[key];
      }
      const kapsoPart = { direction: 'inbound', status: 'received', origin: 'cloud_api', ...more };
      return deliver(event, {
        ...rest,
        message: {
          ...message,
          id: `wamid.${unique()}`,
          from: customer,
          type,
          [type]: own,
          kapso: kapsoPart,
        },
        conversation: { ...conversation, phone_number: customer },
      });
    },
    report(messageId, customer, status) {
      const event = `whatsapp.message.${status}`;
      const { message, conversation, ...rest } = sample(`kapso/${event}`);
      for (const key of ['username', 'business_scoped_user_id']) delete conversation[key];
      const kapsoPart = { ...message.kapso, statuses: message.kapso.statuses ?? [] };
      return deliver(event, {
        ...rest,
        message: { ...message, id: messageId, to: customer, kapso: kapsoPart },
        conversation: { ...conversation, phone_number: customer },
      });
    },
    threadOf: (customer) =>
      until(async () => {
        const { body } = await app.owner.get(
          `/v1/threads/${encodeURIComponent(`whatsapp:${customer}`)}`,
        );
        return (body as { id?: string }).id;
      }),
    async messagesOf(threadId) {
      const { body } = await app.owner.get(`/v1/threads/${threadId}/messages`);
      return (body as { data: { role: string; content: string }[] }).data.map(
        ({ role, content }) => ({
          role,
          content,
        }),
      );
    },
  };
}
