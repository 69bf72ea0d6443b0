import { cancelExecution, listAnswererSlugs } from '@parley/agents';
import type { Caller, FinishReason, Scope } from '@parley/contracts';
import { actorOf, seesAll } from '@parley/permissions';
import {
  type CallerContext,
  HttpError,
  type Route,
  notFound,
  openAiError,
  route,
} from '@parley/service';
import { z } from 'zod';
import { type StartDeps, beginInBackground } from '../routes/start-execution';
import { type VisibleExecution, executionOf, publicErrorOf } from '../visible-execution';
import { type ExecutionWaits, waitForExecution } from '../wait-for-execution';
import { type CompletionBody, completionBodySchema, toConversation } from './completion-body';
import { createStreamedText } from './streamed-text';

type Deps = StartDeps & ExecutionWaits;

/** Longer than a turn. The gateway's deadline ends the request before. */
const longestWaitMs = 10 * 60_000;
const maxModels = 1_000;
const any = z.unknown();

/**
 * The endpoint for clients of OpenAI's API (docs/adr/0061). It is described by OpenAI, so it is not
 * in the table of operations.
 */
export const createOpenAiRoutes = (deps: Deps): Route[] => [
  route(
    {
      method: 'post',
      path: '/openai/v1/chat/completions',
      permission: 'chat',
      orManage: true,
      rateLimited: true,
      body: completionBodySchema,
      response: any,
    },
    async ({ body }, context) => {
      const { model } = body;
      const slug = model.slice(model.indexOf(':') + 1);
      const actor = actorOf(context.caller);
      // A completion that would be refused begins no turn.
      const leave = deps.streams.admit(context.caller);
      const { executionId: id } = await beginInBackground(deps, context, {
        ...toConversation(body),
        agent: model.startsWith('router:') ? { routerSlug: slug } : { slug },
        channel: 'api',
        // As in start-execution.ts.
        caller: actor.type === 'system' ? undefined : actor,
      }).catch((error: unknown) => {
        leave();
        throw error;
      });
      let isRead = false;
      try {
        if (body.stream) {
          isRead = await streamCompletion(deps, context, { executionId: id, body, leave });
          return null;
        }
        await waitForExecution(deps, context, id, longestWaitMs, leave);
        isRead = !context.signal.aborted;
        return toCompletion(await executionOf(deps.db, context, id), model, context.caller);
      } finally {
        // Nothing else reads the answer.
        if (!isRead) await cancel(deps, context.scope, id);
      }
    },
  ),
  route(
    { method: 'get', path: '/openai/v1/models', permission: 'chat', orManage: true, response: any },
    async (_input, { scope }) => ({ object: 'list', data: await listModels(deps, scope) }),
  ),
  route(
    {
      method: 'get',
      path: '/openai/v1/models/:model',
      permission: 'chat',
      orManage: true,
      params: z.object({ model: z.string() }),
      response: any,
    },
    async ({ params }, { scope }) => {
      const found = (await listModels(deps, scope)).find(({ id }) => id === params.model);
      if (found === undefined)
        throw notFound(`The model "${params.model}" does not exist`, 'model_not_found');
      return found;
    },
  ),
];

async function cancel({ db, executionChunks }: Deps, scope: Scope, id: string): Promise<void> {
  await cancelExecution(db, scope, id);
  executionChunks.ring(id);
}

async function listModels({ db }: Deps, scope: Scope) {
  const answerers = await listAnswererSlugs(db, scope, maxModels);
  return answerers.map(({ kind, slug, createdAt }) => ({
    id: `${kind}:${slug}`,
    object: 'model',
    created: secondsOf(createdAt),
    owned_by: 'parley',
  }));
}

const secondsOf = (at: Date): number => Math.floor(at.getTime() / 1_000);
const idOf = (executionId: string) => `chatcmpl-${executionId}`;

const usageOf = ({ inputTokens, outputTokens, reasoningTokens }: VisibleExecution) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  ...(reasoningTokens !== null && {
    completion_tokens_details: { reasoning_tokens: reasoningTokens },
  }),
});

/**
 * OpenAI's words. The text of a refusal is the answer, as OpenAI ends one. It has no word for an
 * answer that an error has cut off, so OpenRouter's is used.
 */
const finishReasons: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  tool_calls: 'stop',
  length: 'length',
  content_filter: 'content_filter',
  refusal: 'stop',
  error: 'error',
};
/** The answer in one piece. Throws when there is none. */
function toCompletion(execution: VisibleExecution, model: string, caller: Caller) {
  const { id, status, output, error, finishReason, createdAt } = execution;
  if (status !== 'succeeded')
    throw failureOf(status === 'stored' ? 'person_answers' : (error ?? status), caller);
  return {
    id: idOf(id),
    object: 'chat.completion',
    created: secondsOf(createdAt),
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: output ?? '', refusal: null },
        logprobs: null,
        finish_reason: finishReasons[finishReason ?? 'stop'],
      },
    ],
    usage: usageOf(execution),
  };
}

/**
 * Why there is no answer. The message is stored in the thread, so clients must not send it again by
 * themselves: they repeat 409, but not 422, and `openai` reads `x-should-retry`.
 */
function failureOf(reason: string, caller: Caller): HttpError {
  const once = (status: number, message: string, code: string) =>
    new HttpError(status, code, message, { headers: { 'x-should-retry': 'false' } });
  switch (reason) {
    case 'person_answers':
      return once(
        422,
        'A person has taken this thread over. The message is stored, and no agent answers it',
        reason,
      );
    case 'cancelled':
      return once(422, 'The execution was cancelled', reason);
    case 'answer_restarted':
      return once(
        502,
        'The model restarted its answer with different text. Send the request again',
        reason,
      );
    default:
      return once(
        502,
        `The agent could not answer: ${seesAll(caller) ? reason : publicErrorOf(reason)}`,
        'agent_failed',
      );
  }
}

/**
 * The answer as the model writes it. A failure after the beginning is an event with the error, and
 * no finish reason. Returns whether the execution was read to its end.
 */
async function streamCompletion(
  { db, executionStreams, streams }: Deps,
  context: CallerContext,
  { executionId, body, leave }: { executionId: string; body: CompletionBody; leave: () => void },
): Promise<boolean> {
  const { model, stream_options: options } = body;
  const stream = streams.open(context, undefined, undefined, leave);
  const { signal } = stream;
  const includesUsage = options?.include_usage === true;
  const common = {
    id: idOf(executionId),
    object: 'chat.completion.chunk',
    created: secondsOf(new Date()),
    model,
  };
  const send = (delta: { role?: string; content?: string }, finishReason: string | null = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finishReason }];
    return stream.send({ data: { ...common, choices, ...(includesUsage && { usage: null }) } });
  };
  const read = createStreamedText();
  try {
    await send({ role: 'assistant', content: '' });
    for await (const { chunk } of executionStreams.read(context.scope, executionId, {
      after: 0,
      signal,
    })) {
      const part = read(chunk);
      if (part?.type === 'text') await send({ content: part.text });
      if (part?.type === 'failed') {
        await stream.send({ data: openAiError(failureOf(part.reason, context.caller)) as never });
        return true;
      }
      if (part?.type !== 'end') continue;
      // The stream has no word for a refusal.
      const execution = await executionOf(db, context, executionId);
      await send({}, finishReasons[execution.finishReason ?? 'stop']);
      if (includesUsage)
        await stream.send({ data: { ...common, choices: [], usage: usageOf(execution) } });
      stream.end('[DONE]');
      return true;
    }
  } catch (error) {
    context.log.warn({ err: error }, 'a streamed completion was ended');
    await stream.send({
      data: openAiError(new HttpError(500, 'internal_error', 'Internal error')) as never,
    });
  } finally {
    stream.end();
  }
  return false;
}
