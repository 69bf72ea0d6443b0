import type { Agents, ChatFailure, ChatRequest } from '@parley/agents';
import type { ChatResponse } from '@parley/contracts';
import { actorOf, seesAll } from '@parley/permissions';
import {
  HttpError,
  type CallerContext,
  badGateway,
  badRequest,
  gatewayTimeout,
  notFound,
  serverError,
  unavailable,
} from '@parley/service';

/**
 * Answers one chat message of the API, or throws the error of the API reference
 * (docs/reference/errors.md#chat-errors).
 */
export async function answerChat(
  agents: Pick<Agents, 'chat'>,
  request: Omit<ChatRequest, 'channel' | 'requestId' | 'signal'>,
  context: CallerContext,
): Promise<ChatResponse> {
  const { scope, requestId, signal } = context;
  const asking = actorOf(context.caller);
  // Over the API an agent without roles sends no messages, also for a key that acts as the system.
  const caller = asking.type === 'system' ? undefined : asking;
  const isLimitedToApi = !seesAll(context.caller);
  const result = await agents.chat(scope, {
    ...request,
    isLimitedToApi,
    caller,
    channel: 'api',
    requestId,
    signal,
  });
  const threadId = result.ok
    ? result.response.threadId
    : 'threadId' in result
      ? result.threadId
      : undefined;
  if (threadId !== undefined) context.addLogFields({ threadId });
  if (result.ok) return result.response;
  throw refusalOf(result, scope.environment);
}

function refusalOf(failure: ChatFailure, environment: string): HttpError {
  switch (failure.reason) {
    case 'agent_not_found':
      return serverError('Agent not found', failure.reason);
    case 'no_active_config':
      return serverError(
        `No active config found for agent "${failure.agentSlug}" in ${environment}`,
        failure.reason,
      );
    case 'router_not_found':
      return serverError('Router not found', failure.reason);
    case 'thread_not_found':
      return notFound('Thread not found', failure.reason);
    case 'invalid_params': {
      const named = failure.problems.map(({ path, message }) => `${path} ${message}`).join('; ');
      return badRequest(named, failure.problems, failure.reason);
    }
    case 'model_failed':
      return badGateway(
        `The model ${failure.model} could not answer${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'content_filter':
      return badGateway(
        `The content filter of the model ${failure.model} refused the message or the answer${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'refusal':
      return badGateway(
        `The model ${failure.model} refused to answer${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'length':
      return badGateway(
        `The model ${failure.model} reached its limit before it wrote a reply${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'empty_answer':
      return badGateway(
        `The model ${failure.model} answered without a text${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'model_not_configured':
      return badGateway(`No provider is configured for the model ${failure.model}`, failure.reason);
    case 'model_timeout':
      return gatewayTimeout(
        `The model ${failure.model} did not answer in time${reasonOf(failure, environment)}`,
        failure.reason,
      );
    case 'turn_timeout':
      return gatewayTimeout('The message could not be answered in time', failure.reason);
    case 'thread_busy':
      return busy('Earlier messages of this thread are still being answered', failure.reason);
    case 'interrupted':
      return busy('The message was interrupted; it is stored, but has no answer', failure.reason);
    case 'aborted':
      // Only for the log, as the caller has disconnected.
      return new HttpError(499, failure.reason, 'The caller disconnected');
  }
}

/**
 * What the provider answered, in development only: it may quote messages of people, or
 * describe the account.
 */
const reasonOf = ({ detail }: { detail: string }, environment: string): string =>
  environment === 'development' && detail !== '' ? `: ${detail}` : '';

const busy = (message: string, code: string): HttpError =>
  new HttpError(503, code, message, { headers: unavailable().extra.headers });
