import { randomBytes } from 'node:crypto';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type SecretBox, type Tenant, newId } from '@parley/db';
import type { AddressGuard, GuardedFetch } from '@parley/outbound';
import { createAccounts } from './accounts';
import type { ChannelSettings } from './channel-variables';
import {
  type EmailOutcome,
  type EmailView,
  queueEmail,
  readEmail,
  sendEmail,
} from './email/emails';
import { createSecretMails } from './email/secret-mail';
import { subjectOf } from './email/subject-of';
import { fetchMedia } from './media/fetch-media';
import { type KapsoAnswer, createKapsoClient } from './kapso/kapso-client';
import { contactOf } from './whatsapp/contacts';
import {
  type MessageView,
  findSender,
  readConversation,
  readMessage,
  windowEndsAt,
} from './whatsapp/conversation';
import { type MessageOfTenant, findNextMessage, findTenant, queueMessage } from './whatsapp/outbox';
import { digitsOf } from './whatsapp/read-inbound';
import { isScopedId, requestOf } from './whatsapp/request-of';
import { sendMessage, windowClosed } from './whatsapp/send-message';

export interface OutgoingMessage {
  /** Phone number in any spelling, or a scoped id. */
  to: string;
  /** Connected number to send from. */
  from?: string;
  type: string;
  /** Sent as the member of the request whose name is `type`. */
  content: JsonObject;
  /** The text shown to people. */
  text: string | null;
  mediaUrl?: string;
  /** The provider's id of the message that is answered. */
  replyTo?: string;
  /** Whether an open 24-hour window is required: true for free text, false for a template. */
  needsWindow: boolean;
  threadId?: string;
  /** Idempotency key: repeated calls with the same key send one message. Default: a new key. */
  key?: string;
}

export type OutgoingResult =
  | { ok: true; message: MessageView }
  | { ok: false; reason: 'no_sender' | 'invalid_recipient' | 'not_configured'; message: string }
  | { ok: false; reason: 'window_closed' };

export interface OutgoingEmail {
  from?: string;
  to: string[];
  subject: string;
  /** html, text, cc, bcc, reply_to, headers and tags, in Resend's format. */
  content: JsonObject;
  key?: string;
}

export type EmailResult =
  | { ok: true; email: EmailView }
  | { ok: false; reason: 'not_configured' | 'no_from'; message: string };

export type Channels = ReturnType<typeof createChannels>;

export interface ChannelsDeps {
  db: Queryable;
  box: SecretBox;
  settings: ChannelSettings;
  log: { warn(fields: Record<string, unknown>, message: string): void };
  /**
   * For calls whose outcome is shown to callers: refuses addresses of organizations
   * that are not public.
   */
  guard?: AddressGuard;
}

/** Sends WhatsApp messages and e-mails for tools and jobs, and reads their status. */
export function createChannels({ db, box, settings, log, guard }: ChannelsDeps) {
  const accounts = createAccounts(db, box, settings);
  const deps = { db, accounts, log, owner: randomBytes(9).toString('base64url') };

  async function sendWhatsapp(scope: Scope, message: OutgoingMessage): Promise<OutgoingResult> {
    const name = isScopedId(message.to) ? message.to : digitsOf(message.to);
    if (name === '')
      return {
        ok: false,
        reason: 'invalid_recipient',
        message: `"${message.to}" is no phone number`,
      };
    const contact = await contactOf(db, scope, name);
    const found = await findSender(db, scope, { from: message.from, contact });
    if (!found.ok) return { ok: false, reason: 'no_sender', message: found.message };
    if ((await accounts.kapso(scope)) === null)
      return { ok: false, reason: 'not_configured', message: kapsoMissing };
    const { connectionId } = found.sender;
    if (message.needsWindow && (await windowEndsAt(db, scope, { contact, connectionId })) === null)
      return { ok: false, reason: 'window_closed' };
    const { id } = await queueMessage(db, scope, {
      connectionId,
      contact,
      type: message.type,
      text: message.text,
      mediaUrl: message.mediaUrl,
      request: requestOf(name, message.type, message.content, message.replyTo),
      threadId: message.threadId,
      key: message.key ?? newId('key'),
    });
    await sendMessage(deps, scope, id);
    const view = await readMessage(db, scope, id);
    if (view === null) throw new Error(`Message ${id} has been deleted`);
    return view.error === windowClosed
      ? { ok: false, reason: 'window_closed' }
      : { ok: true, message: view };
  }

  /**
   * Adds an e-mail to the outbox. The worker sends it: at once with the job `send-email`, else
   * at its next sweep.
   */
  async function addEmail(
    tx: Queryable,
    scope: Scope,
    { from, to, subject: given, content, key }: OutgoingEmail,
  ): Promise<{ ok: true; id: string } | Extract<EmailResult, { ok: false }>> {
    const account = await createAccounts(tx, box, settings).resend(scope);
    if (account === null) return { ok: false, reason: 'not_configured', message: resendMissing };
    const sender = from ?? account.from;
    if (sender === null) return { ok: false, reason: 'no_from', message: fromMissing };
    const subject = subjectOf(given);
    const request = { from: sender, to, subject, ...content };
    const { id } = await queueEmail(tx, scope, {
      from: sender,
      to,
      subject,
      request,
      key: key ?? newId('key'),
    });
    return { ok: true, id };
  }

  const contactNamed = (scope: Scope, name: string): Promise<string> =>
    contactOf(db, scope, isScopedId(name) ? name : digitsOf(name));

  return {
    accounts,
    sendWhatsapp,
    /** The id of the contact with a phone number, in any spelling, or a scoped id. */
    contactOf: contactNamed,
    queueEmail: addEmail,
    async sendEmail(scope: Scope, email: OutgoingEmail): Promise<EmailResult> {
      const queued = await addEmail(db, scope, email);
      if (!queued.ok) return queued;
      await sendEmail(deps, scope, queued.id);
      return { ok: true, email: (await readEmail(db, scope, queued.id))! };
    },
    ...createSecretMails(accounts, guard),
    async conversation(scope: Scope, name: string, limit: number) {
      const contact = await contactNamed(scope, name);
      return { contact, messages: await readConversation(db, scope, contact, limit) };
    },
    async isWindowOpen(scope: Scope, name: string): Promise<boolean> {
      const contact = await contactNamed(scope, name);
      const found = await findSender(db, scope, { contact });
      return (
        found.ok &&
        (await windowEndsAt(db, scope, { contact, connectionId: found.sender.connectionId })) !==
          null
      );
    },
    message: (scope: Scope, id: string, contact?: string) => readMessage(db, scope, id, contact),
    async templates(scope: Scope, from?: string): Promise<KapsoAnswer<JsonObject[]>> {
      const found = await findSender(db, scope, { from, contact: '' });
      if (!found.ok)
        return { ok: false, reason: 'refused', message: found.message, code: null, status: 0 };
      const account = await accounts.kapso(scope);
      if (account === null)
        return { ok: false, reason: 'refused', message: kapsoMissing, code: null, status: 0 };
      const client = createKapsoClient(account, { guard });
      const number = await client.getPhoneNumber(found.sender.phoneNumberId);
      if (!number.ok) return number;
      const { businessAccountId } = number.value;
      if (businessAccountId === null)
        return {
          ok: false,
          reason: 'refused',
          message: 'The number has no business account',
          code: null,
          status: 0,
        };
      return client.listTemplates(businessAccountId);
    },
    /** Fetches the file of a received message. */
    fetchMedia: (message: MessageOfTenant, fetchGuarded: GuardedFetch['fetch']) =>
      fetchMedia({ ...deps, fetchGuarded }, message),
    /** Sends one queued message. */
    sendQueuedMessage: (tenant: Tenant, id: string) => sendMessage(deps, tenant, id),
    /**
     * Sends a queued message and then its contact's following messages, until one is not sent or
     * `signal` aborts.
     */
    async sendQueuedMessages(id: string, signal: AbortSignal): Promise<void> {
      const tenant = await findTenant(db, id);
      for (let next: string | null = id; tenant !== null && next !== null && !signal.aborted;) {
        const outcome = await sendMessage(deps, tenant, next);
        next =
          outcome === 'later' || outcome === 'not_due'
            ? null
            : await findNextMessage(db, tenant, next);
      }
    },
    async sendQueuedEmail(id: string): Promise<EmailOutcome> {
      const tenant = await findTenant(db, id);
      return tenant === null ? 'not_due' : sendEmail(deps, tenant, id);
    },
  };
}

const kapsoMissing =
  'WhatsApp is not configured here: parley integrations set kapso, or KAPSO_API_KEY';
const resendMissing =
  'E-mail is not configured here: parley integrations set resend, or RESEND_API_KEY';
const fromMissing = 'No sender: set one with parley integrations set resend --from, or EMAIL_FROM';
