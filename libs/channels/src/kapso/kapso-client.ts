import { type Json, type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';
import { type AddressGuard, type HttpFile, type HttpOutcome, callHttp } from '@parley/outbound';

/** Access to a project at Kapso, the WhatsApp provider. */
export interface KapsoAccount {
  /** The organization whose limit of concurrent calls applies. */
  organizationId: string;
  apiUrl: string;
  apiKey: string;
  /** The address is in the settings of the organization, not of the process. */
  isOwnAddress?: boolean;
}

/**
 * `refused`: a permanent error. `retry`: the request had no effect and may be repeated. `no_slot`:
 * it was not sent, because the organization has too many calls in progress. `uncertain`: it may
 * have had an effect.
 */
export type KapsoFailure =
  | { ok: false; reason: 'refused'; message: string; code: string | null; status: number }
  | { ok: false; reason: 'retry'; message: string; afterMs: number | null; isServerError: boolean }
  | { ok: false; reason: 'no_slot'; message: string }
  | { ok: false; reason: 'uncertain'; message: string };

export type KapsoAnswer<T> = { ok: true; value: T } | KapsoFailure;

export interface KapsoPhoneNumber {
  phoneNumberId: string;
  /** Digits, or the number as displayed. */
  phoneNumber: string | null;
  businessAccountId: string | null;
  customerId: string | null;
}

/** A message in Kapso's history. */
export interface KapsoRecord {
  id: string;
  to: string | null;
  type: string | null;
  text: string | null;
  /** The `biz_opaque_callback_data` of the message. */
  reference: string | null;
}

const graph = '/meta/whatsapp/v24.0';
const platform = '/platform/v1';
const pageSize = 100;
const maxPages = 50;
/**
 * Time limit of one call. Shorter than the lease of a message that is being sent (docs/adr/0022).
 */
export const kapsoTimeoutMs = 12_000;

export type KapsoClient = ReturnType<typeof createKapsoClient>;

/**
 * A client of Kapso's API (docs/reference/providers.md#kapso-api). The caller
 * decides about retries.
 */
export function createKapsoClient(
  { organizationId, apiUrl, apiKey, isOwnAddress }: KapsoAccount,
  {
    timeoutMs = kapsoTimeoutMs,
    slotWaitMs,
    guard: guardOfOwn,
  }: { timeoutMs?: number; slotWaitMs?: number; guard?: AddressGuard } = {},
) {
  const headers = { 'X-API-Key': apiKey };
  const guard = isOwnAddress ? guardOfOwn : undefined;
  const call: Call = async (method, path, body, file) =>
    toAnswer(
      await callHttp({
        method,
        url: apiUrl + path,
        headers,
        body,
        file,
        timeoutMs,
        organizationId,
        slotWaitMs,
        guard,
      }),
    );
  return { ...messageCalls(call), ...webhookCalls(call), ...platformCalls(call) };
}

type Call = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  file?: HttpFile,
) => Promise<KapsoAnswer<Json>>;

const segment = encodeURIComponent;
const uncertain = (message: string): KapsoFailure => ({ ok: false, reason: 'uncertain', message });

/** Reads the value of a successful answer. */
const readAnswer = <T>(
  answer: KapsoAnswer<Json>,
  read: (value: JsonObject) => T,
): KapsoAnswer<T> => (answer.ok ? { ok: true, value: read(objectAt(answer.value)) } : answer);

const messageCalls = (call: Call) => ({
  /** Sends a message, to which it adds `messaging_product`. Returns Kapso's id of the message. */
  async sendMessage(phoneNumberId: string, message: JsonObject): Promise<KapsoAnswer<string>> {
    const body = { messaging_product: 'whatsapp', ...message };
    const answer = await call('POST', `${graph}/${segment(phoneNumberId)}/messages`, body);
    if (!answer.ok) return answer;
    const id = textAt(objectAt(listAt(objectAt(answer.value).messages)[0]).id);
    // Kapso has accepted the message, but its id is unknown.
    return id === undefined ? uncertain('the answer has no message id') : { ok: true, value: id };
  },

  /**
   * Uploads a file, which messages can then contain. Returns its id, which is valid for 30 days.
   */
  async uploadMedia(phoneNumberId: string, file: HttpFile): Promise<KapsoAnswer<string>> {
    const body = { messaging_product: 'whatsapp', type: file.contentType };
    const answer = await call('POST', `${graph}/${segment(phoneNumberId)}/media`, body, file);
    if (!answer.ok) return answer;
    const id = textAt(objectAt(answer.value).id);
    return id === undefined ? uncertain('the answer has no media id') : { ok: true, value: id };
  },

  /**
   * Lists the messages sent from a number in a period. Fails when there are more than
   * `maxPages` pages.
   */
  async listSent(
    phoneNumberId: string,
    since: Date,
    until: Date,
  ): Promise<KapsoAnswer<KapsoRecord[]>> {
    const records: KapsoRecord[] = [];
    let after: string | undefined;
    for (let page = 0; page < maxPages; page += 1) {
      const query = new URLSearchParams({
        direction: 'outbound',
        since: since.toISOString(),
        until: until.toISOString(),
        limit: String(pageSize),
        fields: 'kapso(default)',
        ...(after !== undefined && { after }),
      });
      const answer = await call('GET', `${graph}/${segment(phoneNumberId)}/messages?${query}`);
      if (!answer.ok) return answer;
      const { data, paging } = objectAt(answer.value);
      if (!Array.isArray(data)) return uncertain('the answer is not a list');
      records.push(...data.map(objectAt).map(toRecord));
      after = textAt(objectAt(objectAt(paging).cursors).after);
      if (data.length < pageSize) return { ok: true, value: records };
      if (after === undefined) break;
    }
    return uncertain('the list is incomplete');
  },

  async listTemplates(businessAccountId: string): Promise<KapsoAnswer<JsonObject[]>> {
    const answer = await call(
      'GET',
      `${graph}/${segment(businessAccountId)}/message_templates?limit=100`,
    );
    return readAnswer(answer, ({ data }) => listAt(data).map(objectAt));
  },
});

const numberPath = (phoneNumberId: string) =>
  `${platform}/whatsapp/phone_numbers/${segment(phoneNumberId)}`;
const webhooksPath = (phoneNumberId: string) => `${numberPath(phoneNumberId)}/webhooks`;

const webhookCalls = (call: Call) => ({
  async listWebhooks(phoneNumberId: string): Promise<KapsoAnswer<{ id: string; url: string }[]>> {
    const toWebhook = ({ id, url }: JsonObject) => ({
      id: textAt(id) ?? '',
      url: textAt(url) ?? '',
    });
    const answer = await call('GET', webhooksPath(phoneNumberId));
    return readAnswer(answer, ({ data }) => listAt(data).map(objectAt).map(toWebhook));
  },

  /** Returns the id of the webhook. */
  async createWebhook(
    phoneNumberId: string,
    { url, secretKey, events }: { url: string; secretKey: string; events: string[] },
  ): Promise<KapsoAnswer<string>> {
    const fixed = { active: true, kind: 'kapso', payload_version: 'v2', buffer_enabled: false };
    const body = { whatsapp_webhook: { url, secret_key: secretKey, events, ...fixed } };
    return readAnswer(await call('POST', webhooksPath(phoneNumberId), body), idOfData);
  },

  async updateWebhook(
    phoneNumberId: string,
    webhookId: string,
    { secretKey, events }: { secretKey: string; events: string[] },
  ): Promise<KapsoAnswer<null>> {
    const body = { whatsapp_webhook: { secret_key: secretKey, events, active: true } };
    return readAnswer(
      await call('PATCH', `${webhooksPath(phoneNumberId)}/${segment(webhookId)}`, body),
      () => null,
    );
  },

  async deleteWebhook(phoneNumberId: string, webhookId: string): Promise<KapsoAnswer<null>> {
    return readAnswer(
      await call('DELETE', `${webhooksPath(phoneNumberId)}/${segment(webhookId)}`),
      () => null,
    );
  },
});

const platformCalls = (call: Call) => ({
  async getPhoneNumber(phoneNumberId: string): Promise<KapsoAnswer<KapsoPhoneNumber>> {
    return readAnswer(await call('GET', numberPath(phoneNumberId)), ({ data: given }) => {
      const data = objectAt(given);
      const displayed =
        textAt(data.display_phone_number_normalized) ?? textAt(data.display_phone_number);
      return {
        phoneNumberId,
        phoneNumber: displayed ?? textAt(data.phone_number) ?? null,
        businessAccountId: textAt(data.business_account_id) ?? null,
        customerId: textAt(data.customer_id) ?? null,
      };
    });
  },

  /**
   * Creates a customer, who then connects a number through a setup link. Returns Kapso's id
   * of the customer.
   */
  async createCustomer({
    name,
    externalId,
  }: {
    name: string;
    externalId: string;
  }): Promise<KapsoAnswer<string>> {
    const body = { customer: { name, external_customer_id: externalId } };
    return readAnswer(await call('POST', `${platform}/customers`, body), idOfData);
  },

  /** Returns the address at which a person connects a number. */
  async createSetupLink(customerId: string): Promise<KapsoAnswer<string>> {
    const answer = await call('POST', `${platform}/customers/${segment(customerId)}/setup_links`, {
      setup_link: {},
    });
    return readAnswer(answer, ({ data }) => textAt(objectAt(data).url) ?? '');
  },
});

const idOfData = ({ data }: JsonObject): string => textAt(objectAt(data).id) ?? '';

function toRecord(message: JsonObject): KapsoRecord {
  const kapso = objectAt(message.kapso);
  return {
    id: textAt(message.id) ?? '',
    to: textAt(message.to) ?? textAt(kapso.phone_number) ?? null,
    type: textAt(message.type) ?? null,
    text: textAt(objectAt(message.text).body) ?? textAt(kapso.content) ?? null,
    reference: textAt(message.biz_opaque_callback_data) ?? null,
  };
}

/**
 * Status 409 means that another message of the conversation is being sent. Kapso documents that
 * 5xx may be retried.
 */
function toAnswer(outcome: HttpOutcome): KapsoAnswer<Json> {
  if (outcome.kind === 'not_sent' && outcome.reason === 'no_slot')
    return { ok: false, reason: 'no_slot', message: outcome.message };
  if (outcome.kind === 'not_sent')
    return {
      ok: false,
      reason: 'retry',
      message: outcome.message,
      afterMs: null,
      isServerError: false,
    };
  if (outcome.kind === 'unknown') return uncertain(outcome.message);
  const { status, body, retryAfterMs } = outcome;
  if (status >= 200 && status < 300) return { ok: true, value: body };
  const { message, code } = describe(status, body);
  const isServerError = status >= 500;
  if (isServerError || status === 409 || status === 429 || status === 408)
    return { ok: false, reason: 'retry', message, afterMs: retryAfterMs, isServerError };
  return { ok: false, reason: 'refused', message, code, status };
}

/** Errors of Meta's Graph API are objects; errors of Kapso's platform API are texts. */
function describe(status: number, body: Json): { message: string; code: string | null } {
  const { error } = objectAt(body);
  const graphError = objectAt(error);
  const details = textAt(objectAt(graphError.error_data).details);
  const text = textAt(error) ?? textAt(graphError.message) ?? 'no reason given';
  return {
    message: `${status}: ${text}${details === undefined ? '' : ` (${details})`}`.slice(0, 500),
    code: textAt(graphError.code) ?? null,
  };
}
