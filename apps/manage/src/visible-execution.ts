import { readExecution } from '@parley/agents';
import type { Db } from '@parley/db';
import { seesAll } from '@parley/permissions';
import { type CallerContext, notFound } from '@parley/service';
import { timeId } from './page';

const publicErrors = [
  'cancelled',
  'interrupted',
  'the turn took too long',
  'agent_not_found',
  'no_active_config',
];

/**
 * The error as a caller gets it that does not see everything. Other errors may quote a provider.
 */
export const publicErrorOf = (error: string): string =>
  publicErrors.includes(error) ? error : 'failed';

/** Reads an execution that the caller may see. Throws 404 for any other. */
export async function executionOf(db: Db, { caller, scope }: CallerContext, id: string) {
  const execution = timeId.test(id) ? await readExecution(db, scope, id) : null;
  if (execution === null || !(seesAll(caller) || execution.startedBy === caller.id))
    throw notFound('Execution not found');
  return execution;
}

export type VisibleExecution = Awaited<ReturnType<typeof executionOf>>;

/** The tokens of an execution, in the form of the chat API. */
export const usageOf = ({ inputTokens, outputTokens, reasoningTokens }: VisibleExecution) => ({
  inputTokens,
  outputTokens,
  totalTokens: inputTokens + outputTokens,
  ...(reasoningTokens !== null && { reasoningTokens }),
});
