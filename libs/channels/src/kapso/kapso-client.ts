import { type Json, type JsonObject, listAt, objectAt, textAt } from '@parley/contracts';
import { type HttpOutcome, callHttp } from '@parley/outbound';

/** Where the intermediary is, and the key of its project. */
export interface KapsoAccount {
  /** Whose calls these are. */
  organizationId: string;
  apiUrl: string;
  apiKey: string;
}

/**
 * `refused`: it said no, and asking again changes nothing. `again`: not done, and may be tried later. `no_place`: the same,
 * and no request left, as too many calls of the organization are under way. `unsure`: maybe.
 */
export type KapsoFailure =
  | { ok: false; reason: 'refused'; message: string; code: string | null; status: number }
  | { ok: false; reason: 'again'; message: string; afterMs: number | null; isServerError: boolean }
  | { ok: false; reason: 'no_place'; message: string }
  | { ok: false; reason: 'unsure'; message: string };

export type KapsoAnswer<T> = { ok: true; value: T } | KapsoFailure;

export interface KapsoPhoneNumber {
  phoneNumberId: string;
  /** Digits, or as it is displayed. */
  phoneNumber: string | null;
  businessAccountId: string | null;
  customerId: string | null;
}

export interface KapsoWebhook {
  id: string;
  url: string;
}

/** A message that the intermediary has on record. */
export interface KapsoRecord {
  id: string;
  to: string | null;
  type: string | null;
  text: string | null;
  /** What was sent with it to be handed back. */
  reference: string | null;
}

const graph = '/meta/whatsapp/v24.0';
const platform = '/platform/v1';
const pageSize = 100;
const mostPages = 50;
/** Of one call: shorter than the lease of a message that is being sent (docs/adr/0022). */
export const kapsoTimeoutMs = 12_000;

export type KapsoClient = ReturnType<typeof createKapsoClient>;

/** The part of Kapso's API that is used here (providers.md, 4.3). No call is repeated by itself. */
export function createKapsoClient(
  { organizationId, apiUrl, apiKey }: KapsoAccount,
  { timeoutMs = kapsoTimeoutMs, placeWaitMs }: { timeoutMs?: number; placeWaitMs?: number } = {},
) {
  const headers = { 'X-API-Key': apiKey };
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) =>
    toAnswer(await callHttp({ method, url: apiUrl + path, headers, body, timeoutMs, organizationId, placeWaitMs }));
  const part = encodeURIComponent;

  return {
    /** Sends a message, given without `messaging_product`. Answers the provider's id of it. */
    async sendMessage(phoneNumberId: string, message: JsonObject): Promise<KapsoAnswer<string>> {
      const answer = await call('POST', `${graph}/${part(phoneNumberId)}/messages`, {
        messaging_product: 'whatsapp',
        ...message,
      });
      if (!answer.ok) return answer;
      const id = textAt(objectAt(listAt(objectAt(answer.value).messages)[0]).id);
      // It has taken the message, and nobody knows under which name.
      return id === undefined
        ? { ok: false, reason: 'unsure', message: 'the answer names no message' }
        : { ok: true, value: id };
    },

    /** The messages that were sent from a number in a stretch of time; fails when they are too many to be told. */
    async listSent(phoneNumberId: string, since: Date, until: Date): Promise<KapsoAnswer<KapsoRecord[]>> {
      const records: KapsoRecord[] = [];
      let after: string | undefined;
      for (let page = 0; page < mostPages; page += 1) {
        const query = new URLSearchParams({
          direction: 'outbound',
          since: since.toISOString(),
          until: until.toISOString(),
          limit: String(pageSize),
          fields: 'kapso(default)',
          ...(after !== undefined && { after }),
        });
        const answer = await call('GET', `${graph}/${part(phoneNumberId)}/messages?${query}`);
        if (!answer.ok) return answer;
        const { data, paging } = objectAt(answer.value);
        if (!Array.isArray(data)) return { ok: false, reason: 'unsure', message: 'the answer is no list' };
        records.push(...data.map(objectAt).map(toRecord));
        after = textAt(objectAt(objectAt(paging).cursors).after);
        if (data.length < pageSize) return { ok: true, value: records };
        if (after === undefined) break;
      }
      return { ok: false, reason: 'unsure', message: 'the list has no end' };
    },

    async getPhoneNumber(phoneNumberId: string): Promise<KapsoAnswer<KapsoPhoneNumber>> {
      const answer = await call('GET', `${platform}/whatsapp/phone_numbers/${part(phoneNumberId)}`);
      if (!answer.ok) return answer;
      const data = objectAt(objectAt(answer.value).data);
      return {
        ok: true,
        value: {
          phoneNumberId,
          phoneNumber:
            textAt(data.display_phone_number_normalized) ??
            textAt(data.display_phone_number) ??
            textAt(data.phone_number) ??
            null,
          businessAccountId: textAt(data.business_account_id) ?? null,
          customerId: textAt(data.customer_id) ?? null,
        },
      };
    },

    async listWebhooks(phoneNumberId: string): Promise<KapsoAnswer<KapsoWebhook[]>> {
      const answer = await call('GET', webhooksOf(phoneNumberId));
      if (!answer.ok) return answer;
      const value = listAt(objectAt(answer.value).data).map(objectAt);
      return { ok: true, value: value.map(({ id, url }) => ({ id: textAt(id) ?? '', url: textAt(url) ?? '' })) };
    },

    async createWebhook(
      phoneNumberId: string,
      webhook: { url: string; secretKey: string; events: string[] },
    ): Promise<KapsoAnswer<string>> {
      const answer = await call('POST', webhooksOf(phoneNumberId), {
        whatsapp_webhook: {
          url: webhook.url,
          secret_key: webhook.secretKey,
          events: webhook.events,
          active: true,
          kind: 'kapso',
          payload_version: 'v2',
          buffer_enabled: false,
        },
      });
      if (!answer.ok) return answer;
      return { ok: true, value: textAt(objectAt(objectAt(answer.value).data).id) ?? '' };
    },

    async updateWebhook(
      phoneNumberId: string,
      webhookId: string,
      webhook: { secretKey: string; events: string[] },
    ): Promise<KapsoAnswer<null>> {
      const answer = await call('PATCH', `${webhooksOf(phoneNumberId)}/${part(webhookId)}`, {
        whatsapp_webhook: { secret_key: webhook.secretKey, events: webhook.events, active: true },
      });
      return answer.ok ? { ok: true, value: null } : answer;
    },

    async deleteWebhook(phoneNumberId: string, webhookId: string): Promise<KapsoAnswer<null>> {
      const answer = await call('DELETE', `${webhooksOf(phoneNumberId)}/${part(webhookId)}`);
      return answer.ok ? { ok: true, value: null } : answer;
    },

    /** A customer of ours, whose number is then connected over a setup link. Answers the intermediary's id. */
    async createCustomer(customer: { name: string; externalId: string }): Promise<KapsoAnswer<string>> {
      const answer = await call('POST', `${platform}/customers`, {
        customer: { name: customer.name, external_customer_id: customer.externalId },
      });
      if (!answer.ok) return answer;
      return { ok: true, value: textAt(objectAt(objectAt(answer.value).data).id) ?? '' };
    },

    /** The address at which a person connects a number. */
    async createSetupLink(customerId: string): Promise<KapsoAnswer<string>> {
      const answer = await call('POST', `${platform}/customers/${part(customerId)}/setup_links`, { setup_link: {} });
      if (!answer.ok) return answer;
      return { ok: true, value: textAt(objectAt(objectAt(answer.value).data).url) ?? '' };
    },

    /** Any call that needs the key and changes nothing. */
    async check(): Promise<KapsoAnswer<null>> {
      const answer = await call('GET', `${platform}/customers?per_page=1`);
      return answer.ok ? { ok: true, value: null } : answer;
    },

    async listTemplates(businessAccountId: string): Promise<KapsoAnswer<JsonObject[]>> {
      const answer = await call('GET', `${graph}/${part(businessAccountId)}/message_templates?limit=100`);
      return answer.ok ? { ok: true, value: listAt(objectAt(answer.value).data).map(objectAt) } : answer;
    },
  };
}

const webhooksOf = (phoneNumberId: string) =>
  `${platform}/whatsapp/phone_numbers/${encodeURIComponent(phoneNumberId)}/webhooks`;

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

/** 409: another message of the conversation is in flight. 5xx: documented as worth another try. */
function toAnswer(outcome: HttpOutcome): KapsoAnswer<Json> {
  if (outcome.kind === 'not_sent' && outcome.reason === 'no_place')
    return { ok: false, reason: 'no_place', message: outcome.message };
  if (outcome.kind === 'not_sent')
    return { ok: false, reason: 'again', message: outcome.message, afterMs: null, isServerError: false };
  if (outcome.kind === 'unknown') return { ok: false, reason: 'unsure', message: outcome.message };
  const { status, body, retryAfterMs } = outcome;
  if (status >= 200 && status < 300) return { ok: true, value: body };
  const { message, code } = describe(status, body);
  const isServerError = status >= 500;
  if (isServerError || status === 409 || status === 429 || status === 408)
    return { ok: false, reason: 'again', message, afterMs: retryAfterMs, isServerError };
  return { ok: false, reason: 'refused', message, code, status };
}

/** Graph's errors are objects, the platform's are texts. */
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
