import {
  type Thread,
  type ThreadSummary,
  listThreadMessages,
  listThreads,
  messagePosition,
  readThread,
  setTakenOver,
} from '@parley/agents';
import type { Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import { type CallerContext, type Handler, notFound } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { msOf, pageOf } from '../page';

interface Handlers {
  listThreads: Handler<'listThreads'>;
  getThread: Handler<'getThread'>;
  listThreadMessages: Handler<'listThreadMessages'>;
  takeOverThread: Handler<'takeOverThread'>;
  resumeThread: Handler<'resumeThread'>;
}

export function createThreadHandlers({ db, ...deps }: { db: Db } & AuditDeps): Handlers {
  const switchTo =
    (state: 'human' | 'agent') =>
    ({ params: { id: name } }: { params: { id: string } }, context: CallerContext) =>
      db.transaction(async (tx) => {
        const { id } = await threadOf(tx, context.scope, name);
        const changed = await setTakenOver(tx, context.scope, id, state === 'human');
        await auditOf(deps, context)(tx, {
          action: state === 'human' ? 'thread.taken_over' : 'thread.resumed',
          target: { type: 'thread', id },
          after: { changed },
        });
        return { id, state, changed };
      });

  return {
    async listThreads({ query }, { scope }) {
      const { page, answer } = pageOf('threads', scope, query);
      const { agent, state } = query;
      return answer(await listThreads(db, scope, { ...page, agentSlug: agent, state }), toThread);
    },
    getThread: async ({ params: { id } }, { scope }) => toThread(await threadOf(db, scope, id)),
    async listThreadMessages({ params: { id: name }, query }, { scope }) {
      const { id } = await threadOf(db, scope, name);
      const { page, answer } = pageOf(`threads/${id}/messages`, scope, query, messagePosition);
      const messages = await listThreadMessages(db, scope, id, page);
      return answer(messages, ({ position: _, toolCalls, createdAt, ...message }) => ({
        ...message,
        toolCallIds: (toolCalls ?? []).map((call) => call.id),
        createdAt: msOf(createdAt),
      }));
    },
    takeOverThread: switchTo('human'),
    resumeThread: switchTo('agent'),
  };
}

async function threadOf(db: Queryable, scope: Scope, idOrExternalId: string): Promise<Thread> {
  const thread = await readThread(db, scope, idOrExternalId);
  if (thread === null) throw notFound('Thread not found', 'thread_not_found');
  return thread;
}

const toThread = <T extends Thread | ThreadSummary>(thread: T) => ({
  ...thread,
  createdAt: msOf(thread.createdAt),
  lastMessageAt: msOf(thread.lastMessageAt),
});
