import type { Scope } from '@parley/contracts';
import { newId } from '@parley/db';
import { answerTurn } from '../answer-turn';
import { type FailingAgent, textOfFailure } from '../failure-reply';
import { loadAgent } from '../load-agent';
import { chooseAgent } from '../routers/choose-agent';
import type { ChatDeps, Route } from '../running-turn';
import { declaredParams } from '../threads/check-params';
import { readTurn } from '../threads/history';
import type { BegunTurn } from '../threads/turn';
import { createReplyStream } from './reply-stream';
import { type ClaimedExecution, readRecorded, storeChosenAgent } from './execution-queue';

/**
 * After so many processes that did not end it, an execution fails: what its model sends may
 * have ended them.
 */
const maxAttempts = 2;

/**
 * Runs a claimed background execution to its end: the same turn as in a chat, continued from the
 * calls that an earlier process has recorded. When `signal` is aborted it is given back after
 * the current step.
 */
export async function runExecution(
  deps: ChatDeps,
  scope: Scope,
  claimed: ClaimedExecution,
  signal: AbortSignal,
): Promise<void> {
  const { db, store, turnQueue, chunkLog } = deps;
  const startedAt = performance.now();
  const { history, own, position } = await readRecorded(db, claimed);
  const turn: BegunTurn = {
    tenant: claimed.tenant,
    id: claimed.id,
    threadId: claimed.threadId,
    agentRevision: null,
    state: 'running',
    history,
  };
  const fail = async (error: string, agent?: FailingAgent) => {
    const { channel } = claimed.background;
    const text = await textOfFailure(deps, scope, { channel, turn, agent, reason: error });
    const reply = text === null ? null : { id: newId('msg'), position, content: text };
    return store.finish(turn, {
      status: 'failed',
      reply,
      error,
      finishReason: 'error',
      ...progressOf(claimed),
    });
  };
  turnQueue.start(turn);
  try {
    if (claimed.attempts > maxAttempts) {
      const known = await loadAgent(db, scope, claimed.agentSlug);
      return void (await fail('interrupted', known.ok ? known.agent.definition : undefined));
    }
    const routing = await chooseAgain(deps, scope, claimed, signal);
    const loaded = await loadAgent(db, scope, routing?.agentSlug ?? claimed.agentSlug);
    if (!loaded.ok) return void (await fail(loaded.reason));
    const { agent } = loaded;
    const { caller, channel, model, phoneNumber, sent } = claimed.background;
    await answerTurn(deps, scope, {
      request: {
        caller,
        channel,
        model,
        phoneNumber,
        signal,
        agent: { slug: agent.definition.slug },
        message: claimed.input,
        requestId: claimed.requestId ?? undefined,
      },
      routing,
      agent,
      turn: Object.assign(turn, { agentRevision: agent.revision }),
      params: declaredParams(agent.definition.threadContextParams, claimed.params),
      startedAt,
      stream: chunkLog && createReplyStream(chunkLog, claimed),
      sent,
      recorded: { ...progressOf(claimed), messages: readTurn(own), position },
    });
  } finally {
    turnQueue.leave(turn);
    chunkLog?.ring(claimed.id);
  }
}

/**
 * Lets a router's model choose the agent, unless an earlier process has recorded a
 * step of the agent.
 */
async function chooseAgain(
  { db, models }: ChatDeps,
  scope: Scope,
  { id, threadId, routerSlug, background, input: message, iterations }: ClaimedExecution,
  signal: AbortSignal,
): Promise<Route | null> {
  if (background.isProvisional === undefined || routerSlug === null || iterations > 0) return null;
  const { phoneNumber } = background;
  const request = { routerSlug, message, threadId, phoneNumber, executionId: id, signal };
  const routing = await chooseAgent({ db, models }, scope, request);
  if (!routing.ok) return null;
  await storeChosenAgent(db, scope, id, routing.agentSlug);
  return routing;
}

const progressOf = ({
  model,
  iterations,
  inputTokens,
  outputTokens,
  reasoningTokens,
  steps,
}: ClaimedExecution) => ({
  model: model ?? undefined,
  iterations,
  usage: { inputTokens, outputTokens, reasoningTokens: reasoningTokens ?? undefined },
  steps,
});
