import type { Scope } from '@parley/contracts';
import { answerTurn } from './answer-turn';
import { storedOnly } from './chat-answer';
import type { ChatRequest, ChatResult } from './chat-result';
import { enterThread } from './enter-thread';
import { chooseAgent } from './routers/choose-agent';
import type { ChatDeps, RunningTurn } from './running-turn';

/** One message, one answer: the steps of interface.md, Chat execution flow (the key was checked before). */
export async function runChat(deps: ChatDeps, scope: Scope, request: ChatRequest): Promise<ChatResult> {
  const startedAt = performance.now();
  const routing = 'routerSlug' in request.agent ? await route(deps, scope, request, request.agent.routerSlug) : null;
  if (routing?.ok === false) return routing;
  const entered = await enterThread(deps, scope, request, routing);
  if (!entered.ok) return entered;
  const turn: RunningTurn = { ...entered, request, routing, startedAt };
  if (entered.turn.state === 'stored') return storedOnly(turn);
  return answerTurn(deps, scope, turn);
}

const route = ({ db, models }: ChatDeps, scope: Scope, request: ChatRequest, routerSlug: string) =>
  chooseAgent({ db, models }, scope, { ...request, routerSlug });
