import { createHash, createHmac, randomUUID } from 'node:crypto';
import {
  type ApiAnswer,
  type ApiRequest,
  fieldsOf,
  objectOf,
  sendWebhook,
  textOf,
} from './provider';
import type { Account, Message, Store, Webhook } from './store';

export interface KapsoDeps {
  store: Store;
  address: string;
  gatewayUrl: string;
  /** Secret of the project webhook, with which Kapso reports connected numbers. */
  projectSecret: string;
  log: { warn(fields: Record<string, unknown>, message: string): void };
}

const notFound = (message: string): ApiAnswer => ({ status: 404, body: { error: message } });
const graphError = (message: string): ApiAnswer => ({
  status: 400,
  body: { error: { message, type: 'OAuthException', code: 100 } },
});

/** Ids of numbers are their digits, so any number can be connected. */
const numberPattern = /^\d{6,15}$/;

/** Answers a request to Kapso's API (docs/reference/providers.md#kapso-api). */
export function answerKapso(deps: KapsoDeps, request: ApiRequest): ApiAnswer {
  const { method, path } = request;
  const account = deps.store.find(String(request.headers['x-api-key']));
  if (account === undefined) return { status: 401, body: { error: 'Invalid API key' } };
  const [, sender, list] =
    /^\/meta\/whatsapp\/v[\d.]+\/([^/]+)\/(messages|message_templates)$/.exec(path) ?? [];
  if (sender !== undefined && list === 'messages' && method === 'POST')
    return take(deps, account, sender, request);
  if (sender !== undefined)
    return { status: 200, body: { data: list === 'messages' ? sent(account, sender) : [] } };
  const [, number, webhooks, webhookId] =
    /^\/platform\/v1\/whatsapp\/phone_numbers\/([^/]+)(\/webhooks(?:\/([^/]+))?)?$/.exec(path) ??
    [];
  if (number !== undefined && !numberPattern.test(number))
    return notFound('Phone number not found');
  if (number !== undefined && webhooks === undefined) return describeNumber(number);
  if (number !== undefined) return changeWebhooks(deps.store, account, number, webhookId, request);
  if (path === '/platform/v1/customers' && method === 'GET')
    return { status: 200, body: { data: [] } };
  if (path === '/platform/v1/customers')
    return { status: 201, body: { data: { id: `customer-${randomUUID()}` } } };
  const [, customer] = /^\/platform\/v1\/customers\/([\w-]{1,100})\/setup_links$/.exec(path) ?? [];
  if (customer === undefined) return notFound('Not found');
  return {
    status: 201,
    body: { data: { id: 'setup', url: `${deps.address}/connect?customer=${customer}` } },
  };
}

const describeNumber = (number: string): ApiAnswer => ({
  status: 200,
  body: {
    data: {
      id: number,
      phone_number_id: number,
      business_account_id: 'stand-in',
      display_phone_number: `+${number}`,
      display_phone_number_normalized: number,
    },
  },
});

function changeWebhooks(
  store: Store,
  account: Account,
  number: string,
  id: string | undefined,
  { method, body }: ApiRequest,
): ApiAnswer {
  const own = account.webhooks.filter((webhook) => webhook.number === number);
  if (method === 'GET') return { status: 200, body: { data: own } };
  const given = objectOf(fieldsOf(body).whatsapp_webhook);
  const events = Array.isArray(given.events) ? given.events.map(String) : [];
  const secretKey = textOf(given.secret_key);
  const found = own.find((webhook) => webhook.id === id);
  if (method === 'POST') {
    const webhook: Webhook = {
      id: randomUUID(),
      number,
      url: textOf(given.url),
      secretKey,
      events,
    };
    if (!/^https?:\/\//.test(webhook.url))
      return { status: 422, body: { error: 'url is not an address' } };
    account.webhooks.push(webhook);
    store.save(account);
    return { status: 201, body: { data: { id: webhook.id, url: webhook.url } } };
  }
  if (found === undefined) return notFound('Webhook not found');
  if (method === 'DELETE') account.webhooks.splice(account.webhooks.indexOf(found), 1);
  else Object.assign(found, { secretKey, events });
  store.save(account);
  return { status: 204 };
}

/**
 * Takes a message of the business and reports that it was delivered, as WhatsApp
 * does a moment later.
 */
function take(deps: KapsoDeps, account: Account, number: string, { body }: ApiRequest): ApiAnswer {
  const request = fieldsOf(body);
  const { type, recipient, to } = request as Record<string, string>;
  const customer = textOf(to) || textOf(recipient);
  if (request.messaging_product !== 'whatsapp')
    return graphError('messaging_product must be whatsapp');
  if (typeof type !== 'string' || typeof request[type] !== 'object')
    return graphError(`no content of type ${type}`);
  if (customer === '') return graphError('neither to nor recipient');
  const { text, choices } = describeContent(type, objectOf(request[type]));
  if (type === 'text' && (text === '' || text.length > 4096))
    return graphError('the text is empty or too long');
  const reference = textOf(request.biz_opaque_callback_data) || null;
  const message = add(deps.store, account, {
    number,
    customer,
    direction: 'outbound',
    type,
    text,
    choices,
    reference,
  });
  setTimeout(() => {
    void report(account, message, 'delivered').then(
      (problem) =>
        problem !== null && deps.log.warn({ problem }, 'the status of a message was not accepted'),
    );
  }, 100).unref();
  return { status: 200, body: { messaging_product: 'whatsapp', messages: [{ id: message.id }] } };
}

/** What the customer sees of a message, and the titles that can be chosen. */
function describeContent(
  type: string,
  content: Record<string, unknown>,
): { text: string; choices: string[] } {
  const action = objectOf(content.action);
  const listOf = (value: unknown) => (Array.isArray(value) ? value.map(objectOf) : []);
  const rows = listOf(action.sections).flatMap((section) => listOf(section.rows));
  const titles = [...listOf(action.buttons).map((button) => objectOf(button.reply)), ...rows];
  const parameters = listOf(content.components).flatMap((one) => listOf(one.parameters));
  const values = parameters.map((one) => textOf(one.text)).filter(Boolean);
  const texts = [
    textOf(content.body) || textOf(objectOf(content.body).text),
    textOf(content.caption),
    textOf(content.link),
    ...(type === 'template' ? [`Template ${textOf(content.name)}`, ...values] : []),
  ];
  return {
    text: texts.filter(Boolean).join('\n').slice(0, 10_000) || `(${type})`,
    choices: titles.map(({ title }) => textOf(title)).filter(Boolean),
  };
}

/** The messages of a number as Kapso lists them. All fit into one page, so there is no cursor. */
const sent = (account: Account, number: string) =>
  account.messages
    .filter((message) => message.number === number && message.direction === 'outbound')
    .slice(-99)
    .map(({ id, customer, type, text, reference }) => ({
      id,
      to: customer,
      type,
      biz_opaque_callback_data: reference ?? undefined,
      ...(type === 'text' && { text: { body: text } }),
    }));

function add(store: Store, account: Account, message: Omit<Message, 'id' | 'at'>): Message {
  const added = { id: `wamid.${randomUUID()}`, ...message, at: new Date().toISOString() };
  account.messages.push(added);
  store.save(account);
  return added;
}

/**
 * Sends a customer's message to the webhooks of a number. It is kept if they accept it. Returns the
 * problem in words, or null with the message.
 */
export async function writeAsCustomer(
  store: Store,
  account: Account,
  {
    number,
    customer,
    text,
    isChoice,
  }: { number: string; customer: string; text: string; isChoice: boolean },
): Promise<{ problem: string | null }> {
  if (!account.webhooks.some((webhook) => webhook.number === number))
    return {
      problem: `No agent answers at ${number}. Connect it: parley channels connect --phone-number-id ${number}`,
    };
  const type = isChoice ? 'interactive' : 'text';
  const message: Message = {
    id: `wamid.${randomUUID()}`,
    number,
    customer,
    direction: 'inbound',
    type,
    text,
    choices: [],
    reference: null,
    at: new Date().toISOString(),
  };
  const problem = await report(account, message, 'received');
  if (problem === null) {
    account.messages.push(message);
    store.save(account);
  }
  return { problem };
}

/**
 * Sends a delivery about a message to the webhooks of its number
 * (docs/reference/providers.md#kapso-webhooks).
 */
async function report(
  account: Account,
  message: Message,
  status: 'received' | 'delivered',
): Promise<string | null> {
  const { id, number, customer, type, text, at } = message;
  const timestamp = String(Math.floor(Date.now() / 1000));
  const isInbound = message.direction === 'inbound';
  const content =
    type === 'text'
      ? { body: text }
      : { type: 'button_reply', button_reply: { id: text, title: text } };
  const body = JSON.stringify({
    message: {
      id,
      timestamp,
      type,
      [isInbound ? 'from' : 'to']: customer,
      ...((isInbound || type === 'text') && { [type]: content }),
      kapso: {
        direction: message.direction,
        status,
        origin: 'cloud_api',
        has_media: false,
        content: text,
        ...(!isInbound && {
          statuses: [
            { id, status, timestamp, biz_opaque_callback_data: message.reference ?? undefined },
          ],
        }),
      },
    },
    conversation: {
      id: createHash('sha256').update(`${number} ${customer}`).digest('hex').slice(0, 32),
      phone_number: customer,
      phone_number_id: number,
      status: 'active',
      last_active_at: at,
      metadata: {},
      kapso: { contact_name: null },
    },
    is_new_conversation: false,
    phone_number_id: number,
  });
  const event = `whatsapp.message.${status}`;
  const receivers = account.webhooks.filter(
    (webhook) => webhook.number === number && webhook.events.includes(event),
  );
  const problems = await Promise.all(
    receivers.map(({ url, secretKey }) => send(url, event, body, secretKey)),
  );
  return problems.find((problem) => problem !== null) ?? null;
}

const send = (url: string, event: string, body: string, secret: string): Promise<string | null> =>
  sendWebhook(url, {
    headers: {
      'Content-Type': 'application/json',
      'X-Webhook-Event': event,
      'X-Webhook-Payload-Version': 'v2',
      'X-Idempotency-Key': randomUUID(),
      'X-Webhook-Signature': createHmac('sha256', secret).update(body).digest('hex'),
    },
    body,
  });

/**
 * The number that a customer's setup link connects: always the same one, so that a second press
 * changes nothing.
 */
export const numberOfCustomer = (customer: string): string =>
  `1555${String(createHash('sha256').update(customer).digest().readUInt32BE() % 10_000_000).padStart(7, '0')}`;

/**
 * Reports the number of a customer as connected, as Kapso does at the end of its setup page.
 * Returns the problem or null.
 */
export const connectCustomer = (
  { gatewayUrl, projectSecret }: KapsoDeps,
  customer: string,
): Promise<string | null> => {
  const number = {
    phone_number_id: numberOfCustomer(customer),
    project: { id: 'stand-in' },
    customer: { id: customer },
  };
  const event = 'whatsapp.phone_number.created';
  return send(`${gatewayUrl}/webhook/kapso/project`, event, JSON.stringify(number), projectSecret);
};
