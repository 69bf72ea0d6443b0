import {
  type ExecutionStep,
  type ExecutionSummary,
  type StoredPrompt,
  listExecutions,
  readMessages,
  readPrompt,
  readSteps,
} from '@parley/agents';
import { repliesOf } from '@parley/channels';
import type { Db } from '@parley/db';
import { seesAll } from '@parley/permissions';
import { type Handler } from '@parley/service';
import { msOf, msOrNull, pageOf, timeId } from '../page';
import { type ExecutionWaits, waitForExecution } from '../wait-for-execution';
import { executionOf, publicErrorOf, usageOf } from '../visible-execution';

interface Handlers {
  listExecutions: Handler<'listExecutions'>;
  getExecution: Handler<'getExecution'>;
}

export const createExecutionHandlers = ({ db }: { db: Db }, waits: ExecutionWaits): Handlers => ({
  async listExecutions({ query }, { scope }) {
    const { page, answer } = pageOf('executions', scope, query, timeId);
    const { agent, thread, status, toolErrors, since } = query;
    const filters = { agentSlug: agent, threadId: thread, status, toolErrors };
    const from = since === undefined ? undefined : new Date(since);
    return answer(await listExecutions(db, scope, { ...page, ...filters, since: from }), toItem);
  },

  async getExecution({ params: { id }, query: { wait } }, context) {
    const { scope } = context;
    let execution = await executionOf(db, context, id);
    if (wait > 0 && isOpen(execution.status)) {
      await waitForExecution(waits, context, id, wait * 1_000);
      execution = await executionOf(db, context, id);
    }
    const { output, finishReason } = execution;
    const isInputTruncated = execution.isInputTruncated || undefined;
    const result = {
      isInputTruncated,
      reply: output,
      finishReason,
      usage: usageOf(execution),
      output,
    };
    if (!seesAll(context.caller)) {
      const error = execution.error === null ? null : publicErrorOf(execution.error);
      return {
        ...toItem({ ...execution, error }),
        ...result,
        prompt: null,
        steps: [],
        messages: [],
        deliveries: [],
      };
    }
    const { promptHash, requestId } = execution;
    // Messages before calls, so that each call that they ask for is found.
    const messages = await readMessages(db, scope, id);
    const [steps, prompt, deliveries] = await Promise.all([
      readSteps(db, scope, execution),
      promptHash === null ? null : readPrompt(db, scope, promptHash),
      requestId === null || output === null ? [] : repliesOf(db, scope, requestId),
    ]);
    return {
      ...toItem(execution),
      ...result,
      prompt: prompt === null ? null : toPrompt(prompt),
      steps: steps.map(toStep),
      messages: messages.map(
        ({ id: messageId, role, content, isTruncated, toolCallIds, createdAt }) => ({
          id: messageId,
          role,
          content,
          isTruncated: isTruncated || undefined,
          toolCallIds,
          createdAt: msOf(createdAt),
        }),
      ),
      deliveries: deliveries.map(({ id: messageId, status, error, createdAt }) => ({
        messageId,
        status,
        error,
        createdAt: msOf(createdAt),
      })),
    };
  },
});

const isOpen = (status: ExecutionSummary['status']) =>
  ['queued', 'running', 'stalled'].includes(status);

const toItem = ({ iterations, createdAt, startedAt, finishedAt, ...rest }: ExecutionSummary) => ({
  id: rest.id,
  threadId: rest.threadId,
  agentSlug: rest.agentSlug,
  agentRevision: rest.agentRevision,
  routerSlug: rest.routerSlug,
  status: rest.status,
  model: rest.model,
  modelCallCount: iterations,
  toolCallCount: rest.toolCallCount,
  toolErrorCount: rest.toolErrorCount,
  inputTokens: rest.inputTokens,
  outputTokens: rest.outputTokens,
  reasoningTokens: rest.reasoningTokens,
  error: rest.error,
  requestId: rest.requestId,
  createdAt: msOf(createdAt),
  startedAt: msOrNull(startedAt),
  finishedAt: msOrNull(finishedAt),
  durationMs: startedAt === null || finishedAt === null ? null : msOf(finishedAt) - msOf(startedAt),
  input: rest.input,
});

const toPrompt = ({ text, bytes, tools }: StoredPrompt) => ({
  text,
  bytes,
  isTruncated: Buffer.byteLength(text) < bytes,
  tools,
});

const toStep = (step: ExecutionStep) =>
  step.type === 'model' ? step : { ...step, startedAt: msOf(step.startedAt) };
