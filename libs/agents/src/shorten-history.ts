import type { ModelMessage, ModelResult } from './models/model';
import { type HistoryTurn, newestTurns, tokensOfTurns, trimHistory } from './threads/history';

type Failure = Extract<ModelResult, { ok: false }>;

/** A history that is smaller is left out instead of halved. */
const smallestTokens = 2_000;

/**
 * The history that the model gets. It is shortened when the provider refuses the request for it
 * (docs/reference/chat.md#history).
 */
export function createHistoryView({
  history,
  budgetTokens,
  refusedTurns,
}: {
  history: readonly HistoryTurn[];
  budgetTokens: number;
  /** Reads the ids of the turns that the provider may have refused before. */
  refusedTurns: () => Promise<ReadonlySet<string>>;
}) {
  let turns = history;
  let tokens = budgetTokens;
  let isWithoutRefused = false;
  let isHalved = false;

  function halve(): boolean {
    const sent = newestTurns(turns, tokens);
    if (sent.length === 0) return false;
    const sentTokens = tokensOfTurns(sent);
    tokens = sentTokens < smallestTokens ? 0 : Math.floor(sentTokens / 2);
    return true;
  }

  /**
   * A message that the provider refuses would otherwise keep every later one from being answered.
   */
  async function leaveOutRefused(): Promise<boolean> {
    if (isWithoutRefused || turns.length === 0) return false;
    isWithoutRefused = true;
    const refused = await refusedTurns();
    const left = turns.filter(({ executionId }) => !refused.has(executionId));
    if (left.length === turns.length) return false;
    turns = left;
    return true;
  }

  function halveOnce(): boolean {
    if (isHalved || turns.length < 2) return false;
    isHalved = true;
    return halve();
  }

  return {
    messages: (): ModelMessage[] => trimHistory(turns, tokens),
    /**
     * Shortens the history after a failure. False: the failure has another cause, or there is
     * nothing left to leave out. A request that is refused for an unknown reason is shortened at
     * most twice, because each attempt is paid.
     */
    async shorten({ reason, status }: Failure): Promise<boolean> {
      if (reason === 'context_overflow') return halve();
      const isRefused = reason === 'content_filter' || reason === 'refusal';
      const isUnknown = reason === 'rejected' && status === 400;
      if ((isRefused || isUnknown) && (await leaveOutRefused())) return true;
      return isUnknown && halveOnce();
    },
  };
}
