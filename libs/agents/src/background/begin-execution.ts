import type { Actor, Scope } from '@parley/contracts';
import { type Queryable, statement } from '@parley/db';
import { beginTurn } from '../begin-turn';
import type { ChatRequest } from '../chat-result';
import type { SentConversation } from '../running-turn';
import { type Routing, chooseAgent } from '../routers/choose-agent';
import { mayContinue } from '../threads/read-threads';
import { storeTurn } from '../threads/turn-store';

export interface ExecutionRequest extends Pick<
  ChatRequest,
  | 'agent'
  | 'message'
  | 'threadId'
  | 'isLimitedToApi'
  | 'externalThreadId'
  | 'params'
  | 'phoneNumber'
  | 'channel'
  | 'model'
  | 'requestId'
> {
  /** Id of the key or person that starts it, and that may read and cancel it. */
  callerId: string;
  /** Who the agent acts for (ChatRequest). */
  caller?: Actor;
  /**
   * The conversation as the client has sent it, instead of what a thread contains (docs/adr/0061).
   */
  sent?: SentConversation;
}

/** What the column `background` contains: the parts of the request that are in no other column. */
export interface Background extends Pick<
  ExecutionRequest,
  'callerId' | 'caller' | 'channel' | 'model' | 'phoneNumber' | 'sent'
> {
  /** The router's model has not chosen the agent yet. */
  isProvisional?: true;
}

type Failure = Extract<Awaited<ReturnType<typeof beginTurn>> | Routing, { ok: false }>;
export type BegunExecution = { ok: true; executionId: string; threadId: string } | Failure;

/** A turn that a takeover keeps from being answered has ended already. */
const putInBackground = statement(
  'put-execution-in-background',
  `update executions set background = $background::jsonb, lease_owner = null, lease_until = null,
          started_at = case when status in ('queued', 'running') then null else started_at end,
          status = case when status in ('queued', 'running') then 'queued'::"ExecutionStatus" else status end
   where tenant = $tenant and id = $executionId::bigint`,
);

/** Lists leave out threads without a last message. */
const hideThread = statement(
  'hide-thread-of-single-request',
  `update threads set last_message_at = null, erase_at = now() + interval '1 day' where tenant = $tenant
     and id = $threadId`,
);

/**
 * Stores a message as the last turn of its thread, for the worker to answer, in the caller's
 * transaction. Afterwards the caller enqueues the job `run-execution`; without it a sweep finds the
 * execution (docs/adr/0059).
 */
export async function beginExecution(
  tx: Queryable,
  scope: Scope,
  request: ExecutionRequest,
): Promise<BegunExecution> {
  const { agent, callerId, caller, channel, model, phoneNumber, sent } = request;
  if (!(await mayContinue(tx, scope, request))) return { ok: false, reason: 'thread_not_found' };
  const routing =
    'routerSlug' in agent
      ? await chooseAgent({ db: tx, models: null }, scope, {
          ...request,
          routerSlug: agent.routerSlug,
        })
      : null;
  if (routing?.ok === false) return routing;
  const store = { begin: storeTurn.bind(null, tx, 'background') };
  const begun = await beginTurn({ store }, scope, request, routing);
  if (!begun.ok) return begun;
  const { id: executionId, threadId } = begun.turn;
  const background: Background = {
    callerId,
    caller,
    channel,
    model,
    phoneNumber,
    sent,
    isProvisional: routing?.isProvisional,
  };
  await tx.query(scope, putInBackground, { executionId, background: JSON.stringify(background) });
  if (sent?.isSingle) await tx.query(scope, hideThread, { threadId });
  return { ok: true, executionId, threadId };
}
