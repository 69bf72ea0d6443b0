import { randomBytes } from 'node:crypto';
import { type ProviderAnswer, type ProviderRequest, startProviderServer } from './provider-server';

/**
 * A fault of the next request to send. With `broken_after` and `lost_after` the
 * message is still sent.
 */
export type SendFault =
  | 'window_closed'
  | 'refused'
  | 'busy'
  | 'limited'
  | 'broken'
  | 'broken_after'
  | 'lost_before'
  | 'lost_after';

export interface SentMessage {
  id: string;
  phoneNumberId: string;
  body: Record<string, unknown>;
  atMs: number;
}

export interface KapsoServer {
  url: string;
  apiKey: string;
  /** All messages that were sent to customers, in order. */
  sent: SentMessage[];
  webhooks: {
    id: string;
    phoneNumberId: string;
    url: string;
    secretKey: string;
    events: string[];
  }[];
  /** Files that were uploaded to be sent, in order. */
  uploads: { id: string; contentType: string; filename: string; bytes: Buffer }[];
  /** Files that customers sent, at `/media/NAME`. */
  media: Record<
    string,
    ProviderAnswer | ((request: ProviderRequest) => ProviderAnswer | Promise<ProviderAnswer>)
  >;
  /** The message templates of the account. */
  templates: Record<string, unknown>[];
  /** Violations of the provider's protocol; must stay empty. */
  problems: string[];
  faults: SendFault[];
  /** Connected numbers by id, in their display form. */
  numbers: Record<string, string>;
  /** Whether the list of sent messages is available. Otherwise it is answered with 404. */
  returnsHistory: boolean;
  /** Called before each call about the webhooks of a number. A result replaces the response. */
  beforeWebhookCall: (call: {
    method: string;
    phoneNumberId: string;
  }) => Promise<ProviderAnswer | undefined>;
  stop(): Promise<void>;
}

const graphError = (status: number, code: number, message: string): ProviderAnswer => ({
  status,
  body: { error: { message, type: 'OAuthException', code, fbtrace_id: 'trace' } },
});

/**
 * Starts a stand-in for Kapso's API (docs/reference/providers.md#kapso-api) that
 * checks its requests.
 */
export async function startKapsoServer(): Promise<KapsoServer> {
  let count = 0;
  // Ids are unique across stand-ins, because test files may share a database.
  const run = randomBytes(4).toString('hex');
  const state: Omit<KapsoServer, 'url' | 'stop'> = {
    apiKey: 'kapso-test-key',
    sent: [],
    webhooks: [],
    uploads: [],
    media: {},
    templates: [{ name: 'reminder', language: 'es', status: 'APPROVED', components: [] }],
    problems: [],
    faults: [],
    numbers: { '109876543210987': '+1 555-123-4567' },
    returnsHistory: true,
    beforeWebhookCall: async () => undefined,
  };

  async function answer(request: ProviderRequest): Promise<ProviderAnswer> {
    const { method, path } = request;
    if (request.headers['x-api-key'] !== state.apiKey)
      return { status: 401, body: { error: 'Invalid API key' } };
    const [, phoneNumberId] = /^\/meta\/whatsapp\/v24\.0\/([^/]+)\/messages$/.exec(path) ?? [];
    const [, file] = /^\/media\/([^/]+)$/.exec(path) ?? [];
    if (file !== undefined && method === 'GET') {
      const found = state.media[file] ?? { status: 404, body: { error: 'Not found' } };
      return typeof found === 'function' ? found(request) : found;
    }
    if (/^\/meta\/whatsapp\/v24\.0\/[^/]+\/media$/.test(path) && method === 'POST')
      return upload(request);
    if (phoneNumberId !== undefined && method === 'POST') return take(phoneNumberId, request);
    if (phoneNumberId !== undefined && method === 'GET') return history(phoneNumberId, request);
    if (/^\/meta\/whatsapp\/v24\.0\/[^/]+\/message_templates$/.test(path))
      return { status: 200, body: { data: state.templates } };
    const [, number, webhookPath, webhookId] =
      /^\/platform\/v1\/whatsapp\/phone_numbers\/([^/]+)(\/webhooks(?:\/([^/]+))?)?$/.exec(path) ??
      [];
    if (number !== undefined && webhookPath === undefined) return describeNumber(number);
    if (number !== undefined)
      return (
        (await state.beforeWebhookCall({ method, phoneNumberId: number })) ??
        webhookCall(number, webhookId, request)
      );
    if (path === '/platform/v1/customers' && method === 'GET')
      return { status: 200, body: { data: [] } };
    if (path === '/platform/v1/customers')
      return { status: 201, body: { data: { id: `customer-${run}-${(count += 1)}` } } };
    if (path.endsWith('/setup_links'))
      return { status: 201, body: { data: { id: 's', url: 'https://setup.example/1' } } };
    state.problems.push(`unknown call ${method} ${path}`);
    return { status: 404, body: { error: 'Not found' } };
  }

  function take(phoneNumberId: string, { body }: ProviderRequest): ProviderAnswer {
    const problem = problemOf(body);
    if (problem !== null) {
      state.problems.push(problem);
      return graphError(400, 100, problem);
    }
    const fault = state.faults.shift();
    if (fault === 'window_closed') return graphError(400, 131047, 'Re-engagement message');
    if (fault === 'refused') return graphError(400, 131026, 'Message undeliverable');
    if (fault === 'busy') return { status: 409, body: { error: 'Another message is in flight' } };
    if (fault === 'limited')
      return { status: 429, body: { error: 'Slow down' }, headers: { 'Retry-After': '0' } };
    if (fault === 'broken') return { status: 503, body: { error: 'Down' } };
    if (fault === 'lost_before') return 'drop';
    const id = `wamid.TEST-${run}-${(count += 1)}`;
    state.sent.push({ id, phoneNumberId, body: body!, atMs: Date.now() });
    if (fault === 'lost_after') return 'drop';
    if (fault === 'broken_after') return { status: 504, body: { error: 'No answer from behind' } };
    const to = body!.to ?? body!.recipient;
    return {
      status: 200,
      body: {
        messaging_product: 'whatsapp',
        contacts: [{ input: to, wa_id: to }],
        messages: [{ id }],
      },
    };
  }

  async function upload({ headers, bytes }: ProviderRequest): Promise<ProviderAnswer> {
    const fault =
      state.faults[0] === 'broken' || state.faults[0] === 'refused'
        ? state.faults.shift()
        : undefined;
    if (fault === 'broken') return { status: 503, body: { error: 'Down' } };
    if (fault === 'refused') return graphError(400, 131053, 'Media upload error');
    const form = await new Response(new Uint8Array(bytes), {
      headers: { 'Content-Type': String(headers['content-type']) },
    }).formData();
    const file = form.get('file');
    if (form.get('messaging_product') !== 'whatsapp' || !(file instanceof File)) {
      state.problems.push('incomplete upload');
      return graphError(400, 100, 'Invalid parameter');
    }
    const id = `media-${run}-${(count += 1)}`;
    const content = Buffer.from(await file.arrayBuffer());
    state.uploads.push({ id, contentType: file.type, filename: file.name, bytes: content });
    return { status: 200, body: { id } };
  }

  function history(phoneNumberId: string, { query }: ProviderRequest): ProviderAnswer {
    if (!state.returnsHistory) return { status: 404, body: { error: 'Not found' } };
    if (query.get('direction') !== 'outbound') state.problems.push('history without direction');
    const [since, until] = [
      Date.parse(query.get('since') ?? ''),
      Date.parse(query.get('until') ?? ''),
    ];
    if (!(since < until)) state.problems.push('history without a valid period');
    const found = state.sent
      .filter(
        (one) => one.phoneNumberId === phoneNumberId && one.atMs >= since && one.atMs <= until,
      )
      .reverse();
    const from = Number(query.get('after') ?? 0);
    const to = from + Number(query.get('limit') ?? 20);
    const data = found.slice(from, to).map(({ id, body }) => ({
      id,
      to: body.to,
      type: body.type,
      [String(body.type)]: body[String(body.type)],
    }));
    return { status: 200, body: { data, paging: { cursors: { after: String(to) } } } };
  }

  function describeNumber(number: string): ProviderAnswer {
    const display = state.numbers[number];
    if (display === undefined) return { status: 404, body: { error: 'Phone number not found' } };
    const data = {
      id: number,
      phone_number_id: number,
      business_account_id: 'waba-1',
      display_phone_number: display,
      display_phone_number_normalized: display.replace(/\D/g, ''),
    };
    return { status: 200, body: { data } };
  }

  function webhookCall(
    number: string,
    id: string | undefined,
    { method, body }: ProviderRequest,
  ): ProviderAnswer {
    const given = (body?.whatsapp_webhook ?? {}) as {
      url?: string;
      secret_key?: string;
      events?: string[];
    };
    const known = state.webhooks.find((webhook) => webhook.id === id);
    if (method === 'GET')
      return {
        status: 200,
        body: { data: state.webhooks.filter(({ phoneNumberId }) => phoneNumberId === number) },
      };
    if (method === 'POST') {
      if (!given.url || !given.secret_key || !given.events?.length)
        state.problems.push('incomplete webhook');
      const webhook = {
        id: `webhook-${run}-${(count += 1)}`,
        phoneNumberId: number,
        url: given.url ?? '',
        secretKey: given.secret_key ?? '',
        events: given.events ?? [],
      };
      state.webhooks.push(webhook);
      return { status: 201, body: { data: { id: webhook.id, url: webhook.url } } };
    }
    if (known === undefined) return { status: 404, body: { error: 'Webhook not found' } };
    if (method === 'DELETE') {
      state.webhooks.splice(state.webhooks.indexOf(known), 1);
      return { status: 204 };
    }
    Object.assign(known, { secretKey: given.secret_key, events: given.events });
    return { status: 204 };
  }

  const server = await startProviderServer(answer);
  return Object.assign(state, { url: server.url, stop: server.stop });
}

function problemOf(body: Record<string, unknown> | null): string | null {
  if (body === null) return 'the body is no JSON object';
  if (body.messaging_product !== 'whatsapp') return 'messaging_product must be whatsapp';
  const type = body.type;
  if (typeof type !== 'string' || typeof body[type] !== 'object')
    return 'the member named after the type is missing';
  const hasNumber = typeof body.to === 'string' && /^\d{6,20}$/.test(body.to);
  if (!hasNumber && typeof body.recipient !== 'string') return 'neither to nor recipient';
  if (type !== 'text') return null;
  const text = (body.text as { body?: unknown }).body;
  return typeof text === 'string' && text !== '' && text.length <= 4096
    ? null
    : 'the text is empty or too long';
}
