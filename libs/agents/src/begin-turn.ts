import type { JsonObject, Scope } from '@parley/contracts';
import type { ChatFailure, ChatRequest } from './chat-result';
import type { AgentFailure, LoadedAgent } from './load-agent';
import type { Route } from './running-turn';
import { checkParams, declaredParams } from './threads/check-params';
import type { BegunTurn } from './threads/turn';
import type { TurnStore } from './threads/turn-store';

type BegunChat = { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject };

type Refusal = Extract<
  ChatFailure,
  { reason: AgentFailure['reason'] | 'thread_not_found' | 'invalid_params' }
>;

/**
 * Stores the message as the last turn of its thread, which is created if it does not exist
 * (function enter_thread).
 */
export async function beginTurn(
  { store }: { store: Pick<TurnStore, 'begin'> },
  scope: Scope,
  request: ChatRequest,
  routing: Route | null,
): Promise<BegunChat | Refusal> {
  const { threadId, externalThreadId, channel, message, requestId, phoneNumber } = request;
  const agent = routing
    ? { slug: routing.agentSlug }
    : (request.agent as { id: string } | { slug: string });
  const routerParams: JsonObject =
    routing === null || phoneNumber === undefined ? {} : { phoneNumber };
  const begin = (params: JsonObject, isChecked: boolean) =>
    store.begin(scope, {
      agent,
      threadId,
      externalThreadId,
      routerSlug: routing?.routerSlug,
      channel,
      message,
      params: { ...routerParams, ...params },
      isChecked,
      requestId,
    });
  // What the agent declares is unknown until the model has chosen one.
  const first = await begin(request.params ?? {}, routing?.isProvisional === true);
  if (!first.ok || first.turn !== null) return first;
  // Only the API can report a missing param to the caller. On a channel the prompt is
  // compiled without it.
  const mustBeComplete = channel === 'api' && (request.depth ?? 0) === 0;
  const { threadContextParams } = first.agent.definition;
  const checked = checkParams(threadContextParams, request.params ?? {}, {
    stored: declaredParams(threadContextParams, first.params),
    mustBeComplete,
  });
  if (!checked.ok) return { ok: false, reason: 'invalid_params', problems: checked.problems };
  const second = await begin(checked.params, true);
  if (second.ok && second.turn === null)
    throw new Error('A message with checked params began no turn');
  if (second.ok)
    return { ...(second as BegunChat), params: declaredParams(threadContextParams, second.params) };
  return second;
}
