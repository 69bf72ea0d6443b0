import { hasAnswerer, readThread } from '@parley/agents';
import {
  type ChannelMessage,
  type Channels,
  type SentEmail,
  findEmail,
  findMessage,
  latestNumberOf,
  listConnections,
  listEmails,
  listMessages,
  readAliases,
  readBlob,
  readSharedContent,
  retryEmail,
  retryMessage,
  threadKeyOf,
  updateConnection,
} from '@parley/channels';
import type { Scope } from '@parley/contracts';
import type { Db } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import {
  type CallerContext,
  type Handler,
  badGateway,
  badRequest,
  conflict,
  notFound,
} from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { holdLargeRead } from '../hold-large-read';
import { dateOf, msOf, pageOf } from '../page';

interface Handlers {
  listChannelMessages: Handler<'listChannelMessages'>;
  getChannelMessage: Handler<'getChannelMessage'>;
  getMessageMedia: Handler<'getMessageMedia'>;
  retryChannelMessage: Handler<'retryChannelMessage'>;
  listEmails: Handler<'listEmails'>;
  getEmail: Handler<'getEmail'>;
  retryEmail: Handler<'retryEmail'>;
  getContact: Handler<'getContact'>;
  listChannels: Handler<'listChannels'>;
  updateChannel: Handler<'updateChannel'>;
  listChannelTemplates: Handler<'listChannelTemplates'>;
}

export interface MessageRouteDeps extends AuditDeps {
  db: Db;
  channels: Pick<Channels, 'contactOf' | 'templates'>;
}

/** Smaller files are not counted: a conversation shows many pictures at once. */
const largeFileBytes = 1_048_576;

const messageNotFound = () => notFound('Message not found', 'message_not_found');
const emailNotFound = () => notFound('E-mail not found', 'email_not_found');
export const channelNotFound = () => notFound('Channel not found', 'channel_not_found');

const toMessage = ({
  shared,
  mediaStatus,
  filename,
  contentType,
  size,
  mediaError,
  isTruncated,
  createdAt,
  ...row
}: ChannelMessage) => ({
  ...row,
  isTruncated: isTruncated || undefined,
  ...readSharedContent(row.type, shared),
  media:
    mediaStatus === null
      ? null
      : { status: mediaStatus, filename, contentType, size, error: mediaError },
  createdAt: msOf(createdAt),
});
const toEmail = ({ createdAt, ...row }: SentEmail) => ({ ...row, createdAt: msOf(createdAt) });

/** Types that a browser shows without running anything. Everything else is downloaded. */
const isShown = (contentType: string): boolean =>
  /^(image\/(jpeg|png|gif|webp)|audio\/(ogg|mpeg|amr|aac|mp4))$/.test(contentType);

/** A value of `filename*` (RFC 8187), in which `'`, `(`, `)` and `*` are also escaped. */
const encodeName = (name: string): string =>
  encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

type ListedConnection = Awaited<ReturnType<typeof listConnections>>[number];

export const toConnection = (row: ListedConnection) => ({ ...row, channel: 'whatsapp' as const });

/** Refuses an agent or router that does not exist. */
export async function requireAnswerer(
  db: Db,
  scope: Scope,
  { agent, router }: { agent?: string; router?: string },
) {
  if (await hasAnswerer(db, scope, { agentSlug: agent, routerSlug: router })) return;
  const name = agent ? `agent "${agent}"` : `router "${router}"`;
  throw badRequest(`There is no ${name} in this environment`, undefined, 'answerer_not_found');
}

export async function requireContactType(db: Db, scope: Scope, slug: string): Promise<void> {
  if ((await readEntityTypes(db, scope)).some((type) => type.slug === slug)) return;
  throw badRequest(
    `There is no entity type "${slug}" in this environment`,
    undefined,
    'entity_type_not_found',
  );
}

async function findChannel(
  db: Db,
  { scope }: CallerContext,
  id: string,
): Promise<ListedConnection> {
  const found = (await listConnections(db, scope)).find((one) => one.id === id);
  if (found === undefined) throw channelNotFound();
  return found;
}

export const createMessageHandlers = ({ db, channels, ...deps }: MessageRouteDeps): Handlers => ({
  async listChannelMessages({ query }, { scope }) {
    const { page, answer } = pageOf('messages', scope, query);
    const { status, direction, threadId, since } = query;
    const contact = query.contact && (await channels.contactOf(scope, query.contact));
    const filter = { status, direction, contact, threadId, since: dateOf(since) };
    return answer(await listMessages(db, scope, { ...page, ...filter }), toMessage);
  },

  async getChannelMessage({ params: { id } }, { scope }) {
    const message = await findMessage(db, scope, id);
    if (message === null) throw messageNotFound();
    return toMessage(message);
  },

  async getMessageMedia({ params: { id } }, context) {
    const { scope, response } = context;
    const message = await findMessage(db, scope, id);
    if (message === null) throw messageNotFound();
    if ((message.size ?? 0) > largeFileBytes) await holdLargeRead(context);
    const blob = await readBlob(db, scope, message.id);
    if (blob === null) throw notFound('The message has no file', 'media_not_found');
    const { bytes, contentType, filename, status, error } = blob;
    if (bytes === null || contentType === null) {
      const state = status === 'failed' ? 'could not be fetched' : 'has not been fetched yet';
      throw conflict(`The file ${state}${error === null ? '' : `: ${error}`}`, 'media_not_ready');
    }
    response.writeHead(200, {
      'Content-Type': contentType,
      'Content-Length': bytes.length,
      'Content-Disposition': `${isShown(contentType) ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeName(filename ?? message.id)}`,
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'private, no-store',
    });
    response.end(bytes);
    return '';
  },

  retryChannelMessage: ({ params: { id }, body: { anyway } }, context) =>
    db.transaction(async (tx) => {
      const retried = await retryMessage(tx, context.scope, id, { anyway });
      if (retried.ok) {
        const after = { anyway, retriedAs: retried.id };
        await auditOf(deps, context)(tx, {
          action: 'message.retried',
          target: { type: 'message', id },
          after,
        });
        return { id: retried.id };
      }
      switch (retried.reason) {
        case 'not_found':
          throw messageNotFound();
        case 'not_failed':
          throw conflict(`A message that is ${retried.status} cannot be retried`, 'not_failed');
        case 'in_doubt':
          throw conflict(
            'The contact may have received the message. Send it again with anyway',
            'in_doubt',
          );
        case 'from_phone':
          throw conflict('The message was sent from the phone itself', 'from_phone');
        case 'no_sender':
          throw conflict(retried.message, 'no_sender');
      }
    }),

  async listEmails({ query }, { scope }) {
    const { page, answer } = pageOf('emails', scope, query);
    const filter = { status: query.status, since: dateOf(query.since) };
    return answer(await listEmails(db, scope, { ...page, ...filter }), toEmail);
  },

  async getEmail({ params: { id } }, { scope }) {
    const email = await findEmail(db, scope, id);
    if (email === null) throw emailNotFound();
    return toEmail(email);
  },

  retryEmail: ({ params: { id }, body: { anyway } }, context) =>
    db.transaction(async (tx) => {
      const email = await findEmail(tx, context.scope, id);
      if (email === null) throw emailNotFound();
      const result = await retryEmail(tx, context.scope, id, { anyway });
      if (result === 'not_failed')
        throw conflict(`An e-mail that is ${email.status} cannot be retried`, 'not_failed');
      if (result === 'in_doubt')
        throw conflict(
          'The recipient may have received the e-mail. Send it again with anyway',
          'in_doubt',
        );
      const before = { status: email.status };
      await auditOf(deps, context)(tx, {
        action: 'email.retried',
        target: { type: 'email', id },
        before,
        after: { anyway },
      });
      return { id };
    }),

  async getContact({ params: { id } }, { scope }) {
    const contact = await channels.contactOf(scope, id);
    const [aliases, messages, thread] = await Promise.all([
      readAliases(db, scope, contact),
      listMessages(db, scope, { limit: 20, before: null, contact }),
      readThread(db, scope, threadKeyOf(contact)),
    ]);
    if (aliases.length === 0 && messages.items.length === 0)
      throw notFound('Contact not found', 'contact_not_found');
    return {
      id: contact,
      phoneNumber: await latestNumberOf(db, scope, contact),
      name: thread?.contactName ?? null,
      aliases,
      thread: thread === null ? null : { id: thread.id, externalId: threadKeyOf(contact) },
      messages: messages.items.map(toMessage),
    };
  },

  listChannels: async (_input, { scope }) => ({
    data: (await listConnections(db, scope)).map(toConnection),
  }),

  async updateChannel({ params: { id }, body }, context) {
    const { scope } = context;
    const before = await findChannel(db, context, id);
    const { agent, router, contactType } = body;
    if (agent !== undefined || router !== undefined)
      await requireAnswerer(db, scope, { agent, router });
    if (contactType) await requireContactType(db, scope, contactType);
    return db.transaction(async (tx) => {
      await updateConnection(tx, scope, id, body);
      const after = (await listConnections(tx, scope)).find((one) => one.id === id);
      if (after === undefined) throw channelNotFound();
      const parts = (row: typeof after) => ({
        agent: row.agent,
        router: row.router,
        contactType: row.contactType,
      });
      await auditOf(deps, context)(tx, {
        action: 'channel.updated',
        target: { type: 'channel', id },
        before: parts(before),
        after: parts(after),
      });
      return toConnection(after);
    });
  },

  async listChannelTemplates({ params: { id } }, context) {
    const channel = await findChannel(db, context, id);
    if (channel.status !== 'connected')
      throw conflict('The channel is not connected yet', 'not_connected');
    const found = await channels.templates(context.scope, id);
    if (!found.ok) throw badGateway(found.message, 'provider_failed');
    return { data: found.value };
  },
});
