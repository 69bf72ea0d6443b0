import type { JsonObject, Scope } from '@parley/contracts';
import type { ChatFailure, ChatRequest } from './chat-result';
import type { LoadedAgent } from './load-agent';
import type { ChatDeps, Route } from './running-turn';
import { checkParams } from './threads/thread-params';
import type { BegunTurn } from './threads/turn';

type EnteredTurn = { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject };

/** Stores the message at the end of the thread's line; a thread that does not exist yet is made. */
export async function enterThread(
  { store }: ChatDeps,
  scope: Scope,
  request: ChatRequest,
  routing: Route | null,
): Promise<EnteredTurn | ChatFailure> {
  const { threadId, externalThreadId, channel, message, requestId, phoneNumber } = request;
  const agent = routing ? { slug: routing.agentSlug } : (request.agent as { id: string } | { slug: string });
  const kept: JsonObject = routing === null || phoneNumber === undefined ? {} : { phoneNumber };
  const enter = (params: JsonObject, isChecked: boolean) =>
    store.enter(scope, {
      agent,
      threadId,
      externalThreadId,
      routerSlug: routing?.routerSlug,
      channel,
      message,
      params: { ...kept, ...params },
      isChecked,
      requestId,
    });
  const first = await enter(request.params ?? {}, false);
  if (!first.ok || first.turn !== null) return first;
  // Nobody can be asked for a missing param on a channel: there the prompt has to do without.
  const mustBeComplete = channel === 'api' && (request.depth ?? 0) === 0;
  const { threadContextParams } = first.agent.definition;
  const checked = checkParams(threadContextParams, request.params ?? {}, { stored: first.params, mustBeComplete });
  if (!checked.ok) return { ok: false, reason: 'invalid_params', problems: checked.problems };
  const second = await enter(checked.params, true);
  if (second.ok && second.turn === null) throw new Error('A checked message did not enter its thread');
  return second as EnteredTurn | ChatFailure;
}
