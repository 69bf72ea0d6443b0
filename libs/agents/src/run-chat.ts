import type { Actor, ChatResponse, JsonObject, Scope } from '@parley/contracts';
import { type Db, newId } from '@parley/db';
import { type ToolContext, type Tools, isListed } from '@parley/tools';
import type { ChatRequest, ChatResult } from './chat-result';
import type { LoadedAgent } from './load-agent';
import type { AgentLog } from './log';
import { type LoopOutcome, runLoop } from './loop';
import { addUsage } from './models/add-usage';
import type { Models } from './models/model';
import { compilePrompt } from './prompt';
import { type Routing, chooseAgent } from './routers/choose-agent';
import { repairHistory } from './threads/history';
import { checkParams } from './threads/thread-params';
import type { TurnLine } from './threads/turn-line';
import { type TurnRecorder, createTurnRecorder } from './threads/turn-recorder';
import type { BegunTurn, HistoryRow, Progress, TurnOutcome, TurnStore } from './threads/turn-store';

export interface ChatDeps {
  db: Db;
  tools: Tools;
  models: Models;
  log: AgentLog;
  store: TurnStore;
  line: TurnLine;
  /** Of one message, its wait in the thread's line included. */
  turnTimeoutMs: number;
  /** How much of a thread's history the model is given, in tokens. */
  historyTokens: number;
}

/** One message, one answer: the steps of interface.md, Chat execution flow (the key was checked before). */
export async function runChat(deps: ChatDeps, scope: Scope, request: ChatRequest): Promise<ChatResult> {
  const startedAt = performance.now();
  const routing = 'routerSlug' in request.agent ? await route(deps, scope, request, request.agent.routerSlug) : null;
  if (routing?.ok === false) return routing;
  const entered = await enterThread(deps, scope, request, routing);
  if (!entered.ok) return entered;
  const turn: Running = { ...entered, request, routing, startedAt };
  if (entered.turn.state === 'stored') return storedOnly(turn);
  return answer(deps, scope, turn);
}

type Route = Extract<Routing, { ok: true }>;

interface Running {
  request: ChatRequest;
  routing: Route | null;
  agent: LoadedAgent;
  turn: BegunTurn;
  params: JsonObject;
  startedAt: number;
}

const route = ({ db, models }: ChatDeps, scope: Scope, request: ChatRequest, routerSlug: string): Promise<Routing> =>
  chooseAgent({ db: db.pool, models }, scope, { ...request, routerSlug });

type EnteredTurn = { ok: true; agent: LoadedAgent; turn: BegunTurn; params: JsonObject };

/** Stores the message at the end of the thread's line; a thread that does not exist yet is made. */
async function enterThread(
  { store }: ChatDeps,
  scope: Scope,
  request: ChatRequest,
  routing: Route | null,
): Promise<EnteredTurn | Extract<ChatResult, { ok: false }>> {
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
  return second as EnteredTurn | Extract<ChatResult, { ok: false }>;
}

/** The turn itself: wait for its place, prompt, loop, and its end in the store whatever happens. */
async function answer(deps: ChatDeps, scope: Scope, running: Running): Promise<ChatResult> {
  const { store, line } = deps;
  const { turn, request } = running;
  let isFinished = false;
  const recorder = recorderOf(store, running);
  const finish = async (outcome: TurnOutcome) => {
    isFinished = true;
    return recorder.finish(outcome);
  };
  try {
    let history: HistoryRow[] = [];
    if (turn.state === 'running') {
      line.start(turn);
      history = turn.history;
    } else {
      const admission = await line.admit(turn, { signal: request.signal, waitMs: deps.turnTimeoutMs });
      if (!admission.ok) {
        await finish(
          failed(admission.reason === 'timeout' ? 'waited too long for the turns before it' : 'the caller went away'),
        );
        return {
          ok: false,
          reason: admission.reason === 'timeout' ? 'thread_busy' : 'aborted',
          threadId: turn.threadId,
        };
      }
      history = admission.history;
    }
    const outcome = await think(deps, scope, { ...running, recorder }, history);
    if (outcome.end.how === 'lost') {
      await recorder.settle();
      return { ok: false, reason: 'interrupted', threadId: turn.threadId };
    }
    const replyId = newId('msg');
    const reply =
      outcome.end.how === 'answered' ? { id: replyId, position: outcome.position, content: outcome.end.text } : null;
    const isStored = await finish({
      status: reply === null ? 'failed' : 'succeeded',
      reply,
      error: reply === null ? describeEnd(outcome) : undefined,
      model: outcome.model,
      iterations: outcome.iterations,
      usage: outcome.usage,
      steps: outcome.steps,
    });
    if (!isStored) return { ok: false, reason: 'interrupted', threadId: turn.threadId };
    return toResult(running, outcome, replyId);
  } finally {
    // A bug or an unreachable database: the turn is ended if that still works, else its lease ends it.
    if (!isFinished) await store.finish(turn, failed('internal error')).catch(() => {});
    line.leave(turn);
  }
}

/** The turn's recorder; what a router's classification used is counted in. */
function recorderOf(store: TurnStore, { turn, routing }: Running): TurnRecorder {
  const recorder = createTurnRecorder(store, turn);
  const classification = routing?.classification ?? null;
  if (classification === null) return recorder;
  const withIt = <T extends Progress>(progress: T): T => ({
    ...progress,
    usage: addUsage(progress.usage, classification.usage),
    steps: [classification.step, ...progress.steps],
  });
  return {
    ...recorder,
    recordCalls: (step) => recorder.recordCalls({ ...step, progress: withIt(step.progress) }),
    finish: (outcome) => recorder.finish(withIt(outcome)),
  };
}

async function think(
  deps: ChatDeps,
  scope: Scope,
  running: Running & { recorder: TurnRecorder },
  rows: HistoryRow[],
): Promise<LoopOutcome> {
  const { tools, models } = deps;
  const { turn, request, agent, params } = running;
  const { definition } = agent;
  const allowed = definition.tools ?? [];
  const { slug, roles = [] } = definition;
  const actor: Actor = request.actor ?? { type: 'agent', slug, roles, ...request.onBehalfOf };
  const context: ToolContext = {
    requestId: request.requestId,
    threadId: turn.threadId,
    executionId: turn.id,
    agentSlug: definition.slug,
    channel: request.channel,
    params,
    hops: request.hops ?? 0,
    depth: request.depth ?? 0,
    parentAgents: request.parentAgents ?? [],
    nesting: request.nesting,
  };
  const [prompt, offers, settings] = await Promise.all([
    compilePrompt(deps, scope, {
      agent: definition,
      actor,
      channel: request.channel,
      params,
      message: request.message,
      threadId: turn.threadId,
      context,
      signal: request.signal,
    }),
    allowed.length === 0 ? [] : tools.offer(scope, allowed),
    models.settings(scope, definition.model),
  ]);
  return runLoop({
    models,
    settings,
    scope,
    turnId: turn.id,
    system: prompt.compiled,
    history: repairHistory(rows),
    historyTokens: deps.historyTokens,
    message: request.message,
    offers,
    async runTool({ id, name, args }, signal) {
      const result = await tools.run(scope, {
        name,
        args,
        actor,
        allowed,
        context: { ...context, callId: id, signal },
      });
      // What is not in the list is denied, whether or not such a tool exists (interface.md, Permission engine errors).
      const isDenied = !result.ok && result.errorType === 'tool_not_found' && !isListed(allowed, name);
      return isDenied ? { ...result, errorType: 'permission_denied' } : result;
    },
    recorder: running.recorder,
    signal: request.signal,
    // A turn that waited almost to the end still gets to say something.
    timeLimitMs: Math.ceil(
      Math.max(deps.turnTimeoutMs - (performance.now() - running.startedAt), deps.turnTimeoutMs / 10),
    ),
  });
}

const failed = (error: string): TurnOutcome => ({
  status: 'failed',
  reply: null,
  error,
  iterations: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  steps: [],
});

function describeEnd({ end, model }: LoopOutcome): string {
  switch (end.how) {
    case 'answered':
      return '';
    case 'model_failed':
      return `${model}: ${end.reason}: ${end.detail}`;
    case 'aborted':
      return 'the caller went away';
    case 'timeout':
      return 'the turn took too long';
    case 'lost':
      return 'interrupted';
  }
}

function toResult(running: Running, outcome: LoopOutcome, replyId: string): ChatResult {
  const { threadId } = running.turn;
  const { end, model } = outcome;
  switch (end.how) {
    case 'answered':
      return { ok: true, state: 'answered', response: responseOf(running, outcome, { text: end.text, replyId }) };
    case 'model_failed':
      if (end.reason === 'timeout') return { ok: false, reason: 'model_timeout', model, threadId };
      if (end.reason === 'not_configured' || end.reason === 'unknown_model') {
        return { ok: false, reason: 'model_not_configured', model, threadId };
      }
      return { ok: false, reason: 'model_failed', model, threadId };
    case 'timeout':
      return { ok: false, reason: 'turn_timeout', threadId };
    case 'aborted':
      return { ok: false, reason: 'aborted', threadId };
    case 'lost':
      return { ok: false, reason: 'interrupted', threadId };
  }
}

function responseOf(running: Running, outcome: LoopOutcome, reply: { text: string; replyId: string }): ChatResponse {
  const { model, iterations, toolCalls, lastResultOf } = outcome;
  const transfer = lastResultOf.get('router.transfer') as { agentSlug?: string; agentId?: string } | undefined;
  return {
    threadId: running.turn.threadId,
    message: reply.text,
    usage: addUsage(outcome.usage, running.routing?.classification?.usage ?? null),
    assistantMessageId: reply.replyId,
    _executionMeta: {
      iterationCount: iterations,
      model,
      durationMs: Math.round(performance.now() - running.startedAt),
      toolCallSummary: toolCalls,
      errorCount: toolCalls.filter((call) => call.status === 'error').length,
      permissionDenialCount: toolCalls.filter((call) => call.errorType === 'permission_denied').length,
    },
    ...(transfer?.agentSlug && {
      _transferred: { targetAgentSlug: transfer.agentSlug, targetAgent: transfer.agentId ?? transfer.agentSlug },
    }),
    ...routedTo(running),
  };
}

const storedOnly = (running: Running): ChatResult => ({
  ok: true,
  state: 'stored',
  response: {
    threadId: running.turn.threadId,
    message: '',
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    ...routedTo(running),
  },
});

const routedTo = ({ routing, agent }: Running) =>
  routing === null ? {} : { routedToAgent: agent.id, routedToAgentSlug: agent.definition.slug };
