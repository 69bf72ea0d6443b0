import { createHash } from 'node:crypto';
import {
  findOpenExecution,
  findThread,
  listThreadMessages,
  messagePosition,
  readExecution,
} from '@parley/agents';
import type { Db } from '@parley/db';
import {
  anonymousVisitor,
  createVisitorToken,
  identifiedVisitor,
  threadOfVisitor,
} from '@parley/identity';
import type { Queues } from '@parley/redis';
import { type CallerContext, type Handler, unauthorized } from '@parley/service';
import { msOf, pageOf } from '../page';
import { type VisitorDeps, admit, admitOrigin, visitorOf } from '../visitors';
import { beginInBackground } from './start-execution';
import type { SendExecution } from './stream-execution';

interface Handlers {
  createVisitorSession: Handler<'createVisitorSession'>;
  sendVisitorMessage: Handler<'sendVisitorMessage'>;
  listVisitorMessages: Handler<'listVisitorMessages'>;
  streamVisitorThread: Handler<'streamVisitorThread'>;
}

/**
 * More than a visitor's message and a reply of an agent may have, so that no text of the
 * conversation is cut.
 */
const visitorContentChars = 1_048_576;

type Deps = VisitorDeps & { db: Db; queues: Queues };

export const createWidgetHandlers = (deps: Deps, sendStream: SendExecution): Handlers => ({
  async createVisitorSession({ query: { key }, body: { visitorId: known, identity } }, context) {
    const { website, origin } = await admitOrigin(deps, context, key);
    const { visitor, visitorId } =
      identity === undefined
        ? anonymousVisitor(known)
        : { visitor: await identifiedVisitor(website, identity), visitorId: null };
    if (visitor === null) throw unauthorized('invalid_identity');
    await admit(deps, context, website, visitor);
    const { token, expiresAt } = await createVisitorToken(website, visitor, origin);
    // A hash: the thread's own id contains the subject.
    const threadKey = createHash('sha256')
      .update(threadOfVisitor(website, visitor))
      .digest('base64url');
    return { token, expiresAt: expiresAt.getTime(), visitorId, threadKey };
  },

  async sendVisitorMessage({ body: { message } }, context) {
    const { website, visitor } = visitorOf(context);
    const { executionId } = await beginInBackground(deps, context, {
      message,
      channel: 'widget',
      params: visitor.params,
      externalThreadId: threadOfVisitor(website, visitor),
      agent:
        website.routerSlug === null
          ? { slug: website.agentSlug! }
          : { routerSlug: website.routerSlug },
    });
    const { status } = (await readExecution(deps.db, context.scope, executionId))!;
    return { executionId, status };
  },

  async listVisitorMessages({ query: { limit, cursor } }, context) {
    const thread = await threadIn(deps.db, context);
    if (thread === null) return { data: [], cursor: '', hasMore: false };
    const list = `widget/messages/${thread.id}`;
    const { page, answer } = pageOf(list, context.scope, { limit, cursor }, messagePosition);
    const messages = await listThreadMessages(
      deps.db,
      context.scope,
      thread.id,
      page,
      visitorContentChars,
    );
    const items = messages.items.filter(
      ({ role, content }) => role === 'user' || (role === 'assistant' && content !== ''),
    );
    return answer(
      { ...messages, items },
      ({ id, executionId, role, author, content: text, createdAt }) => ({
        id,
        executionId,
        from: role === 'user' ? 'visitor' : author === null ? 'agent' : 'person',
        text,
        createdAt: msOf(createdAt),
      }),
    );
  },

  async streamVisitorThread({ query: { after } }, context) {
    const thread = await threadIn(deps.db, context);
    const id = thread && (await findOpenExecution(deps.db, context.scope, thread.id, null));
    if (id === null) context.response.writeHead(204).end();
    else await sendStream(context, id, after);
    return null;
  },
});

/** The visitor's thread; null before the first message. */
function threadIn(db: Db, context: CallerContext) {
  const { website, visitor } = visitorOf(context);
  return findThread(db, context.scope, threadOfVisitor(website, visitor));
}
