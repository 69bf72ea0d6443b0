import {
  type Author,
  type LockedThread,
  type Thread,
  type ThreadSummary,
  addPersonsMessage,
  changeThread,
  countThreads,
  eraseThread,
  findThread,
  lastMessageId,
  listThreadMessages,
  listThreads,
  lockThread,
  messagePosition,
  readThread,
  readThreadMessage,
  resumeThread,
  takeThreadOver,
  visitThread,
} from '@parley/agents';
import {
  type QueuedReply,
  type ReplyContent,
  answerAgain,
  eraseContact,
  queueReply,
  readThreadContact,
} from '@parley/channels';
import type { JsonObject, Scope } from '@parley/contracts';
import { type Db, type Queryable, newId } from '@parley/db';
import { findOnlyBySpelling } from '@parley/entities';
import { findMember } from '@parley/identity';
import type { Queues } from '@parley/redis';
import { type CallerContext, type Handler, badRequest, conflict, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { holdLargeRead } from '../hold-large-read';
import { toMessages } from '../show-messages';
import { dateOf, msOf, msOrNull, pageOf } from '../page';

interface Handlers {
  listThreads: Handler<'listThreads'>;
  countThreads: Handler<'countThreads'>;
  getThread: Handler<'getThread'>;
  listThreadMessages: Handler<'listThreadMessages'>;
  getThreadMessage: Handler<'getThreadMessage'>;
  replyToThread: Handler<'replyToThread'>;
  addThreadNote: Handler<'addThreadNote'>;
  takeOverThread: Handler<'takeOverThread'>;
  resumeThread: Handler<'resumeThread'>;
  changeThread: Handler<'changeThread'>;
  eraseThread: Handler<'eraseThread'>;
  readThread: Handler<'readThread'>;
  visitThread: Handler<'visitThread'>;
}

/** Seconds for which an open thread counts as open, and a visitor as writing. */
const openSeconds = 45;
const typingSeconds = 6;

export function createThreadHandlers({
  db,
  queues,
  ...deps
}: { db: Db; queues: Queues } & AuditDeps): Handlers {
  /** Runs `work` with the locked thread and the function that adds the entry to the audit log. */
  const change = <T>(
    name: string,
    context: CallerContext,
    work: (
      tx: Queryable,
      thread: LockedThread,
      audit: (action: string, entry?: Change) => Promise<void>,
    ) => Promise<T>,
  ): Promise<T> =>
    db.transaction(async (tx) => {
      const thread = await lockThread(tx, context.scope, name);
      if (thread === null) throw threadNotFound();
      const target = { type: 'thread', id: thread.id };
      return work(tx, thread, (action, entry) =>
        auditOf(deps, context)(tx, { action, target, ...entry }),
      );
    });

  return {
    async listThreads({ query }, { scope, caller }) {
      const { page, answer } = pageOf('threads', scope, query);
      const { agent, channel, state, status, assignee, unread, q, label, since } = query;
      const filters = {
        agentSlug: agent,
        channel,
        state,
        status,
        assigneeId: assignee,
        text: q,
        label,
      };
      const visit = { visitorId: caller.id, isUnread: unread && true, since: dateOf(since) };
      return answer(await listThreads(db, scope, { ...page, ...filters, ...visit }), toThread);
    },
    countThreads: (_input, { scope, caller }) => countThreads(db, scope, caller.id),
    getThread: async ({ params: { id } }, { scope, caller }) =>
      withContact(db, scope, await threadOf(db, scope, id, caller.id)),

    async listThreadMessages({ params: { id: name }, query }, { scope }) {
      const { id, channel } = await found(db, scope, name);
      const { page, answer } = pageOf(`threads/${id}/messages`, scope, query, messagePosition);
      const messages = await listThreadMessages(db, scope, id, page);
      const toMessage = await toMessages(db, scope, channel, messages.items);
      return answer(messages, (message) => ({
        ...toMessage(message),
        isTruncated: message.isTruncated || undefined,
      }));
    },

    async getThreadMessage({ params: { id: name, messageId } }, context) {
      const { scope } = context;
      const { id, channel } = await found(db, scope, name);
      await holdLargeRead(context);
      const message = await readThreadMessage(db, scope, id, messageId);
      if (message === null) throw notFound('Message not found', 'message_not_found');
      return (await toMessages(db, scope, channel, [message]))(message);
    },

    async replyToThread({ params: { id: name }, body }, context) {
      const { scope } = context;
      const reply = await change(name, context, async (tx, thread, audit) => {
        const id = messageIdOf(context);
        const { lastMessageId: seen } = body;
        if (thread.executionId === null)
          throw conflict('The contact has not written in this thread yet', 'no_message');
        if (seen !== undefined && (await lastMessageId(tx, scope, thread)) !== seen)
          throw conflict('The thread has a newer message', 'thread_changed');
        const content = contentOf(body);
        const queued =
          thread.channel !== 'whatsapp' && content.kind === 'text'
            ? null
            : accepted(await queueReply(tx, scope, { thread, content, key: id }));
        const author = authorOf(context);
        const takesOver = thread.state !== 'human';
        await addPersonsMessage(tx, scope, thread, {
          id,
          role: 'assistant',
          content: queued?.text ?? body.text ?? '',
          author,
          channelMessageId: queued?.id,
        });
        if (takesOver) await takeThreadOver(tx, scope, thread, { by: author, resumesAt: null });
        await visitThread(tx, scope, thread.id, { visitor: author, isRead: true });
        await audit('thread.replied', { after: { messageId: id, takenOver: takesOver } });
        return { id, channelMessageId: queued?.id ?? null };
      });
      if (reply.channelMessageId !== null)
        await queues
          .enqueue('send-message', { messageId: reply.channelMessageId }, context)
          .catch(() => {});
      return reply;
    },

    addThreadNote: ({ params: { id: name }, body: { text } }, context) =>
      change(name, context, async (tx, thread, audit) => {
        const message = { role: 'note', content: text, author: authorOf(context) } as const;
        const id = await addPersonsMessage(tx, context.scope, thread, {
          ...message,
          id: messageIdOf(context),
        });
        if (id === null)
          throw conflict('The contact has not written in this thread yet', 'no_message');
        await audit('thread.note_added', { after: { noteId: id } });
        return { id };
      }),

    takeOverThread: ({ params: { id: name }, body: { until } }, context) =>
      change(name, context, async (tx, thread, audit) => {
        if (until !== undefined && until <= Date.now())
          throw badRequest('until must be in the future', undefined, 'invalid_time');
        const changed = thread.state !== 'human';
        await takeThreadOver(tx, context.scope, thread, {
          by: authorOf(context),
          resumesAt: dateOf(until) ?? null,
        });
        await audit('thread.taken_over', {
          before: { state: thread.state },
          after: { state: 'human', until: until ?? null },
        });
        return { id: thread.id, state: 'human', changed };
      }),

    async resumeThread({ params: { id: name }, body: { note } }, context) {
      const { scope } = context;
      const { conversation, ...answer } = await change(name, context, async (tx, thread, audit) => {
        const changed = thread.state !== 'agent';
        const unanswered = await resumeThread(tx, scope, thread);
        if (note !== undefined)
          await addPersonsMessage(tx, scope, thread, {
            role: 'system',
            content: note,
            author: authorOf(context),
          });
        const conversation =
          changed && unanswered !== null ? await answerAgain(tx, scope, unanswered) : null;
        const answering = conversation !== null;
        await audit('thread.resumed', {
          before: { state: thread.state },
          after: { state: 'agent', hasNote: note !== undefined, answering },
        });
        return { conversation, id: thread.id, state: 'agent' as const, changed, answering };
      });
      if (conversation !== null)
        await queues.enqueue('answer-conversation', conversation, context).catch(() => {});
      return answer;
    },

    async changeThread({ params: { id: name }, body }, context) {
      const { scope, caller } = context;
      const id = await change(name, context, async (tx, thread, audit) => {
        if (body.assigneeId != null && (await findMember(tx, scope, body.assigneeId)) === null)
          throw badRequest(
            'No member of the organization has this id',
            undefined,
            'unknown_person',
          );
        await changeThread(tx, scope, thread, body);
        const { status, assigneeId, labels } = thread;
        await audit('thread.changed', { before: { status, assigneeId, labels }, after: body });
        return thread.id;
      });
      return withContact(db, scope, await threadOf(db, scope, id, caller.id));
    },

    eraseThread: ({ params: { id: name } }, context) =>
      change(name, context, async (tx, thread, audit) => {
        const { scope } = context;
        if (!(await eraseThread(tx, scope, thread)))
          throw conflict('The agent is answering a message of the thread', 'turn_running');
        await eraseContact(tx, scope, thread.externalId);
        await audit('thread.erased', {
          before: { externalId: thread.externalId, channel: thread.channel },
        });
        return { erased: true };
      }),

    async readThread({ params: { id: name } }, context) {
      const { id } = await found(db, context.scope, name);
      await visitThread(db, context.scope, id, { visitor: authorOf(context), isRead: true });
      return { ok: true };
    },

    async visitThread({ params: { id: name }, body: { isOpen, isTyping } }, context) {
      const { id } = await found(db, context.scope, name);
      await visitThread(db, context.scope, id, {
        visitor: authorOf(context),
        openSeconds: isOpen ? openSeconds : 0,
        typingSeconds: !isOpen ? 0 : isTyping === undefined ? null : isTyping ? typingSeconds : 0,
      });
      return { ok: true };
    },
  };
}

type Change = { before?: JsonObject; after?: JsonObject };

const threadNotFound = () => notFound('Thread not found', 'thread_not_found');

async function found(db: Queryable, scope: Scope, idOrExternalId: string) {
  const thread = await findThread(db, scope, idOrExternalId);
  if (thread === null) throw threadNotFound();
  return thread;
}

async function threadOf(
  db: Queryable,
  scope: Scope,
  idOrExternalId: string,
  visitorId: string,
): Promise<Thread> {
  const thread = await readThread(db, scope, idOrExternalId, visitorId);
  if (thread === null) throw threadNotFound();
  return thread;
}

/**
 * A request that is repeated after a crash has the same claim, so its message is
 * stored and sent once.
 */
const messageIdOf = ({ idempotency }: CallerContext): string =>
  idempotency === undefined ? newId('msg') : `msg_${idempotency.id}`;

const authorOf = ({ caller: { type, id, name } }: CallerContext): Author => ({ type, id, name });

interface Reply {
  text?: string;
  template?: {
    name: string;
    language: string;
    components?: Extract<ReplyContent, { kind: 'template' }>['components'];
  };
  file?: { filename: string; data: string };
}

function contentOf({ text, template, file }: Reply): ReplyContent {
  if (template !== undefined) return { kind: 'template', ...template };
  if (file !== undefined)
    return { kind: 'file', filename: file.filename, bytes: Buffer.from(file.data, 'base64'), text };
  return { kind: 'text', text: text! };
}

function accepted(queued: QueuedReply): Extract<QueuedReply, { ok: true }> {
  if (queued.ok) return queued;
  switch (queued.reason) {
    case 'no_channel':
      throw badRequest(
        'Files and templates need a channel, which threads of the API have not',
        undefined,
        'no_channel',
      );
    case 'window_closed':
      throw conflict(
        'More than 24 hours since the last message of the contact: send a template',
        'window_closed',
      );
    case 'file_refused':
      throw badRequest(queued.message, undefined, 'file_refused');
    case 'no_sender':
      throw conflict(queued.message, 'no_sender');
  }
}

async function withContact(db: Db, scope: Scope, thread: Thread) {
  const contact = await readThreadContact(
    db,
    scope,
    thread.channel === 'whatsapp' ? thread.externalId : null,
  );
  const { contactType: type = null, phoneNumber = null } = contact ?? {};
  const id =
    type === null || phoneNumber === null
      ? null
      : await findOnlyBySpelling(db, scope, phoneNumber, type);
  return {
    ...toThread(thread),
    contactId: contact?.id ?? null,
    entity: id === null ? null : { type: type!, id },
    windowEndsAt: msOrNull(contact?.windowEndsAt ?? null),
  };
}

const toThread = <T extends Thread | ThreadSummary>(thread: T) => ({
  ...thread,
  takenOverAt: msOrNull(thread.takenOverAt),
  resumesAt: msOrNull(thread.resumesAt),
  waitingSince: msOrNull(thread.waitingSince),
  createdAt: msOf(thread.createdAt),
  lastMessageAt: msOf(thread.lastMessageAt),
});
