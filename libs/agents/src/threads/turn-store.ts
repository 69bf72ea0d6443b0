import type { Scope } from '@parley/contracts';
import { type Queryable, type Tenant, newId } from '@parley/db';
import type { LoadedAgent } from '../load-agent';
import type { CallResult, Entered, Entrance, HistoryRow, Progress, StoredToolCall, Turn, TurnOutcome } from './turn';
import {
  type EnteredRow,
  claim,
  enter,
  finish,
  historyLimit,
  progressValues,
  recordCalls,
  recordResults,
  renew,
  resultValues,
} from './turn-sql';

/** The rows that make a turn: every one of its states is one statement, so a crash leaves it before or after. */
export function createTurnStore(db: Queryable, owner: string) {
  return {
    /**
     * Reads the agent and stores the message as a turn at the end of its thread's line, in one call. The thread's row is
     * locked first, so ids of turns are given, and seen by others, in the order of arrival. A turn with no unfinished
     * one before it begins at once.
     */
    async enter(scope: Scope, { agent, threadId, externalThreadId, ...entrance }: Entrance): Promise<Entered> {
      const { rows } = await db.query(scope, enter, [
        scope.tenant,
        scope.environment,
        'id' in agent ? agent.id : null,
        'slug' in agent ? agent.slug : null,
        threadId ?? null,
        externalThreadId ?? null,
        newId('thread'),
        entrance.channel,
        JSON.stringify(entrance.params),
        entrance.isChecked,
        entrance.routerSlug ?? null,
        owner,
        entrance.message,
        entrance.requestId ?? null,
        newId('msg'),
      ]);
      return toEntered(scope, rows[0]!, threadId !== undefined);
    },

    /**
     * Starts a turn when all earlier ones of its thread are over, and then gives the thread's history. Turns whose
     * process has died are ended on the way. Null: not yet.
     */
    async claim(turn: Turn): Promise<HistoryRow[] | null> {
      const { rows } = await db.query(turn, claim, [turn.tenant, turn.threadId, turn.id, owner, historyLimit]);
      return rows[0]?.claimed ? (rows[0].history ?? []) : null;
    },

    /**
     * Stores what the model asked for, before any of it is done, and what the turn has used so far: a killed turn keeps it.
     * False: this process has lost the turn.
     */
    async recordCalls(
      turn: Turn,
      step: {
        position: number;
        text: string;
        calls: readonly StoredToolCall[];
        progress: Progress;
        results: readonly CallResult[];
      },
    ): Promise<boolean> {
      const { rowCount } = await db.query(turn, recordCalls, [
        ...resultValues(turn, step.results),
        owner,
        newId('msg'),
        step.position,
        step.text,
        JSON.stringify(step.calls),
        ...progressValues(step.progress),
      ]);
      return rowCount === 1;
    },

    /** Stores what calls came to, also for a turn that was lost meanwhile. */
    async recordResults(turn: Turn, results: readonly CallResult[]): Promise<void> {
      await db.query(turn, recordResults, resultValues(turn, results));
    },

    /** Ends a turn and stores its reply. False: this process had lost it, no reply was stored. */
    async finish(turn: Turn, outcome: TurnOutcome, results: readonly CallResult[] = []): Promise<boolean> {
      const { rowCount } = await db.query(turn, finish, [
        ...resultValues(turn, results),
        owner,
        outcome.status,
        outcome.reply?.content ?? null,
        outcome.error ?? null,
        outcome.reply?.id ?? null,
        outcome.reply?.position ?? null,
        ...progressValues(outcome),
      ]);
      return rowCount === 1;
    },

    /** The sign of life of this process's turns. */
    async renew(turns: Iterable<Turn>): Promise<void> {
      for (const [tenant, held] of Map.groupBy(turns, (turn) => turn.tenant))
        await db.query({ tenant }, renew, [tenant, held.map(({ id }) => id), owner]);
    },
  };
}

export type TurnStore = ReturnType<typeof createTurnStore>;

function toEntered({ tenant }: Tenant, row: EnteredRow, isThreadKnown: boolean): Entered {
  const { agent_id: id, agent_slug: slug, definition, thread_id: threadId, turn_id: turnId, state } = row;
  if (id === null || slug === null) return { ok: false, reason: 'agent_not_found' };
  if (definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  if (isThreadKnown && threadId === null) return { ok: false, reason: 'thread_not_found' };
  const agent: LoadedAgent = { id, definition: { ...definition, slug } };
  const params = row.params ?? {};
  if (threadId === null || turnId === null || state === null) return { ok: true, agent, turn: null, params };
  const history = row.history ?? [];
  return { ok: true, agent, turn: { tenant, id: turnId, threadId, state, history }, params };
}
