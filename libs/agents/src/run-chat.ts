import type { Scope } from '@parley/contracts';
import { answerTurn } from './answer-turn';
import { storedResult } from './to-chat-result';
import type { ChatRequest, ChatResult } from './chat-result';
import { beginTurn } from './begin-turn';
import { chooseAgent } from './routers/choose-agent';
import { mayContinue } from './threads/read-threads';
import type { ChatDeps, RunningTurn } from './running-turn';

/**
 * Answers one message: chooses the agent, stores the turn and runs it
 * (docs/reference/chat.md#how-a-message-is-answered).
 */
export async function runChat(
  deps: ChatDeps,
  scope: Scope,
  request: ChatRequest,
): Promise<ChatResult> {
  const startedAt = performance.now();
  if (!(await mayContinue(deps.db, scope, request)))
    return { ok: false, reason: 'thread_not_found' };
  const routing =
    'routerSlug' in request.agent
      ? await route(deps, scope, request, request.agent.routerSlug)
      : null;
  if (routing?.ok === false) return routing;
  const begun = await beginTurn(deps, scope, request, routing);
  if (!begun.ok) return begun;
  const turn: RunningTurn = { ...begun, request, routing, startedAt };
  if (begun.turn.state === 'stored') return storedResult(turn);
  return answerTurn(deps, scope, turn);
}

const route = ({ db, models }: ChatDeps, scope: Scope, request: ChatRequest, routerSlug: string) =>
  chooseAgent({ db, models }, scope, { ...request, routerSlug });
