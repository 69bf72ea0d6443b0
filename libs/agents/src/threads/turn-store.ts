import type { AgentDefinition, JsonObject, Scope } from '@parley/contracts';
import { type Queryable, newId } from '@parley/db';
import type { LoadedAgent } from '../load-agent';
import type {
  BegunTurn,
  CallResult,
  Entered,
  Entrance,
  HistoryRow,
  Progress,
  StoredToolCall,
  Turn,
  TurnOutcome,
} from './turn';
import {
  claimSql,
  finishSql,
  lease,
  leaseSeconds,
  progressValues,
  recordCallsSql,
  recordResultsSql,
  resultValues,
} from './turn-sql';

/** How many messages of a thread are read at most; what fits the model's window is decided after. */
const historyLimit = 400;

/** The rows that make a turn: every one of its states is one statement, so a crash leaves it before or after. */
export function createTurnStore(db: Queryable, owner: string) {
  return {
    /**
     * Reads the agent and stores the message as a turn at the end of its thread's line, in one call. The thread's row is
     * locked first, so ids of turns are given, and seen by others, in the order of arrival. A turn with no unfinished
     * one before it begins at once.
     */
    async enter(scope: Scope, { agent, threadId, externalThreadId, ...entrance }: Entrance): Promise<Entered> {
      const { rows } = await db.raw<EnteredRow>({
        name: 'turn-enter',
        text: `select * from enter_thread($1, $2::"Environment", $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $11, $12,
                 interval '${leaseSeconds} seconds', $13, $14, $15, ${historyLimit})`,
        values: [
          scope.organizationId,
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
        ],
      });
      return toEntered(rows[0]!, threadId !== undefined);
    },

    /**
     * Starts a turn when all earlier ones of its thread are over, and then gives the thread's history. Turns whose
     * process has died are ended on the way. Null: not yet.
     */
    async claim(turn: Turn): Promise<HistoryRow[] | null> {
      const { rows } = await db.raw<{ claimed: boolean; history: HistoryRow[] | null }>({
        name: 'turn-claim',
        text: claimSql,
        values: [turn.threadId, turn.id, owner, historyLimit],
      });
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
      const { rowCount } = await db.raw({
        name: 'turn-record-calls',
        text: recordCallsSql,
        values: [
          ...resultValues(turn, step.results),
          owner,
          newId('msg'),
          step.position,
          step.text,
          JSON.stringify(step.calls),
          ...progressValues(step.progress),
        ],
      });
      return rowCount === 1;
    },

    /** Stores what calls came to, also for a turn that was lost meanwhile. */
    async recordResults(turn: Turn, results: readonly CallResult[]): Promise<void> {
      await db.raw({ name: 'turn-record-results', text: recordResultsSql, values: resultValues(turn, results) });
    },

    /** Ends a turn and stores its reply. False: this process had lost it, no reply was stored. */
    async finish(turn: Turn, outcome: TurnOutcome, results: readonly CallResult[] = []): Promise<boolean> {
      const { rowCount } = await db.raw({
        name: 'turn-finish',
        text: finishSql,
        values: [
          ...resultValues(turn, results),
          owner,
          outcome.status,
          outcome.reply?.content ?? null,
          outcome.error ?? null,
          outcome.reply?.id ?? null,
          outcome.reply?.position ?? null,
          ...progressValues(outcome),
        ],
      });
      return rowCount === 1;
    },

    /** The sign of life of this process's turns. */
    async renew(turnIds: string[]): Promise<void> {
      await db.raw({
        name: 'turn-renew',
        text: `update executions set lease_until = ${lease}
               where id = any($1::bigint[]) and lease_owner = $2 and status in ('queued', 'running')`,
        values: [turnIds, owner],
      });
    },
  };
}

export type TurnStore = ReturnType<typeof createTurnStore>;

interface EnteredRow {
  agent_id: string | null;
  agent_slug: string | null;
  definition: Omit<AgentDefinition, 'slug'> | null;
  thread_id: string | null;
  params: JsonObject | null;
  turn_id: string | null;
  state: BegunTurn['state'] | null;
  history: HistoryRow[] | null;
}

function toEntered(row: EnteredRow, isThreadKnown: boolean): Entered {
  const { agent_id: id, agent_slug: slug, definition, thread_id: threadId, turn_id: turnId, state } = row;
  if (id === null || slug === null) return { ok: false, reason: 'agent_not_found' };
  if (definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  if (isThreadKnown && threadId === null) return { ok: false, reason: 'thread_not_found' };
  const agent: LoadedAgent = { id, definition: { ...definition, slug } };
  const params = row.params ?? {};
  if (threadId === null || turnId === null || state === null) return { ok: true, agent, turn: null, params };
  return { ok: true, agent, turn: { id: turnId, threadId, state, history: row.history ?? [] }, params };
}
