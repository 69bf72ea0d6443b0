import type { JsonObject, Scope } from '@parley/contracts';
import { type Queryable, type Tenant, newId } from '@parley/db';
import { LRUCache } from 'lru-cache';
import type { LoadedAgent } from '../load-agent';
import { contactNameChars } from './read-threads';
import type { SentPrompt } from './sent-prompt';
import type {
  CallResult,
  BeginResult,
  NewTurn,
  HistoryRow,
  Progress,
  StoredToolCall,
  Turn,
  TurnOutcome,
} from './turn';
import {
  type BegunRow,
  claim,
  enterThread,
  finish,
  historyLimit,
  progressValues,
  promptValues,
  recordCalls,
  recordOvertaken,
  recordResults,
  refusedTurns,
  release,
  renew,
  restorePrompt,
  restrictHistory,
  resultValues,
  takeNestedCall,
} from './turn-sql';

/** Maximum number of prompts of which a process knows that they are stored. */
const knownPrompts = 10_000;

/** The error of enter_thread for params that are too large together with those of the thread. */
const isParamsTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'PL001';

const paramsTooLarge: BeginResult = {
  ok: false,
  reason: 'invalid_params',
  problems: [
    {
      path: 'threadContext.params',
      message: 'would have more than 65536 bytes of JSON with those of the thread',
    },
  ],
};

/** Lists of threads have the name, so it is stored with a size that any name has. */
function withShortName(params: JsonObject): JsonObject {
  const { contactName } = params;
  if (typeof contactName !== 'string' || contactName.length <= contactNameChars) return params;
  // A character has up to two code units, which must not be separated.
  const characters = Array.from(contactName.slice(0, 2 * contactNameChars));
  return { ...params, contactName: characters.slice(0, contactNameChars).join('') };
}

/**
 * Reads the agent and stores the message as the last turn of its thread, in one call
 * (enter_thread).
 */
export async function storeTurn(
  db: Queryable,
  owner: string,
  scope: Scope,
  turn: NewTurn,
): Promise<BeginResult> {
  const rows = await enter(db, owner, scope, turn).catch((error: unknown) => {
    if (isParamsTooLarge(error)) return null;
    throw error;
  });
  return rows === null
    ? paramsTooLarge
    : toBeginResult(scope, rows[0]!, turn.threadId !== undefined);
}

async function enter(
  db: Queryable,
  owner: string,
  scope: Scope,
  { agent, threadId, externalThreadId, ...turn }: NewTurn,
): Promise<BegunRow[]> {
  const { rows } = await db.query(scope, enterThread, {
    environment: scope.environment,
    agentId: 'id' in agent ? agent.id : null,
    agentSlug: 'slug' in agent ? agent.slug : null,
    threadId: threadId ?? null,
    externalThreadId: externalThreadId ?? null,
    newThreadId: newId('thread'),
    channel: turn.channel,
    params: JSON.stringify(withShortName(turn.params)),
    isChecked: turn.isChecked,
    routerSlug: turn.routerSlug ?? null,
    owner,
    message: turn.message,
    requestId: turn.requestId ?? null,
    messageId: newId('msg'),
  });
  return rows;
}

/**
 * Stores turns. Each change of state is one statement, so a crash leaves the turn either
 * before or after it.
 */
export function createTurnStore(db: Queryable, owner: string) {
  const stored = new LRUCache<string, true>({ max: knownPrompts });
  const keyOf = ({ tenant }: Tenant, { hash }: SentPrompt) =>
    `${tenant} ${hash.toString('base64')}`;
  const isStored = (turn: Turn, prompt: SentPrompt | undefined) =>
    prompt !== undefined && stored.get(keyOf(turn, prompt)) === true;

  /**
   * After a step that names the prompt of its turn. If the prompt was erased in the meantime, it
   * is stored again.
   */
  async function keepPrompt(
    turn: Turn,
    prompt: SentPrompt | undefined,
    hasPrompt: boolean,
  ): Promise<void> {
    if (prompt === undefined) return;
    stored.set(keyOf(turn, prompt), true);
    if (hasPrompt) return;
    const { hash, text, bytes, tools } = prompt;
    await db.query(turn, restorePrompt, { id: turn.id, hash, text, bytes, tools });
  }

  return {
    begin: (scope: Scope, turn: NewTurn): Promise<BeginResult> => storeTurn(db, owner, scope, turn),

    /**
     * Starts a turn if all earlier ones of its thread have ended, and returns the thread's history;
     * null while one is unfinished. Earlier turns whose lease has expired are ended as failed.
     * `overtaken`: a takeover has ended the turn.
     */
    async claim(turn: Turn): Promise<HistoryRow[] | 'overtaken' | null> {
      const { rows } = await db.query(turn, claim, {
        threadId: turn.threadId,
        id: turn.id,
        owner,
        limit: historyLimit,
      });
      const { claimed, isOvertaken, history } = rows[0]!;
      if (claimed) return history ?? [];
      return isOvertaken ? 'overtaken' : null;
    },

    /**
     * Returns the part of the history that the turn of a caller with roles may see: turns of
     * callers with the same ones. The others may contain results of tools that these roles do not
     * allow. `roles`: lists of roles (docs/adr/0041).
     */
    async restrictHistory(
      turn: Turn,
      roles: string[][],
      history: HistoryRow[],
    ): Promise<HistoryRow[]> {
      const values = { threadId: turn.threadId, id: turn.id, roles: JSON.stringify(roles) };
      const { rows } = await db.query(turn, restrictHistory, values);
      const visible = new Set(rows.map(({ id }) => id));
      return history.filter(([executionId]) => visible.has(executionId));
    },

    /** The ids of the thread's earlier turns that the provider may have refused. */
    async refusedTurns({ tenant, threadId, id }: Turn): Promise<Set<string>> {
      const { rows } = await db.query({ tenant }, refusedTurns, { threadId, id });
      return new Set(rows.map((row) => row.id));
    },

    /**
     * Stores the calls of a reply before they run, with the usage of the turn so far. False: this
     * process has lost the turn.
     */
    async recordCalls(
      turn: Turn,
      step: {
        position: number;
        text: string;
        calls: readonly StoredToolCall[];
        progress: Progress;
        results: readonly CallResult[];
        prompt?: SentPrompt;
      },
    ): Promise<boolean> {
      const { rows } = await db.query(turn, recordCalls, {
        ...resultValues(turn, step.results),
        owner,
        messageId: newId('msg'),
        position: step.position,
        text: step.text,
        calls: JSON.stringify(step.calls),
        ...progressValues(turn, step.progress),
        ...promptValues(step.prompt, isStored(turn, step.prompt)),
      });
      if (rows[0] === undefined) return false;
      await keepPrompt(turn, step.prompt, rows[0].has_prompt);
      return true;
    },

    /** Stores results of calls, including the calls of a lost turn. */
    async recordResults(turn: Turn, results: readonly CallResult[]): Promise<void> {
      await db.query(turn, recordResults, resultValues(turn, results));
    },

    /**
     * Ends a turn and stores its reply. False: this process has lost the turn, and no
     * reply was stored.
     */
    async finish(
      turn: Turn,
      outcome: TurnOutcome,
      results: readonly CallResult[] = [],
      prompt?: SentPrompt,
    ): Promise<boolean> {
      const { rows } = await db.query(turn, finish, {
        ...resultValues(turn, results),
        owner,
        status: outcome.status,
        reply: outcome.reply?.content ?? null,
        error: outcome.error ?? null,
        messageId: outcome.reply?.id ?? null,
        position: outcome.reply?.position ?? null,
        finishReason: outcome.finishReason,
        ...progressValues(turn, outcome),
        ...promptValues(prompt, isStored(turn, prompt)),
      });
      if (rows[0] === undefined) return false;
      await keepPrompt(turn, prompt, rows[0].has_prompt);
      return true;
    },

    /** Gives a background execution back: another process continues it from its recorded calls. */
    async release(turn: Turn): Promise<void> {
      await db.query(turn, release, { id: turn.id, owner });
    },

    /**
     * Stores the usage of a lost turn if a takeover or a cancellation has ended it. False: the turn
     * was lost otherwise.
     */
    async recordOvertaken(turn: Turn, progress: Progress): Promise<boolean> {
      const { rowCount } = await db.query(turn, recordOvertaken, {
        id: turn.id,
        owner,
        ...progressValues(turn, progress),
      });
      return rowCount === 1;
    },

    /**
     * Counts one model call of a turn that is nested in the root turn; false if these have
     * used their limit.
     */
    async takeNestedCall({ tenant }: Tenant, rootId: string, limit: number): Promise<boolean> {
      return (await db.query({ tenant }, takeNestedCall, { rootId, limit })).rowCount === 1;
    },

    /** Renews the leases of this process's turns. */
    async renew(turns: Iterable<Turn>): Promise<void> {
      for (const [tenant, held] of Map.groupBy(turns, (turn) => turn.tenant))
        await db.query({ tenant }, renew, { ids: held.map(({ id }) => id), owner });
    },
  };
}

export type TurnStore = ReturnType<typeof createTurnStore>;

function toBeginResult({ tenant }: Tenant, row: BegunRow, isThreadKnown: boolean): BeginResult {
  const {
    agent_id: id,
    agent_slug: slug,
    definition,
    thread_id: threadId,
    turn_id: turnId,
    state,
  } = row;
  if (id === null || slug === null) return { ok: false, reason: 'agent_not_found' };
  if (definition === null) return { ok: false, reason: 'no_active_config', agentSlug: slug };
  if (isThreadKnown && threadId === null) return { ok: false, reason: 'thread_not_found' };
  const agent: LoadedAgent = {
    id,
    definition: { ...definition, slug },
    revision: row.agent_revision,
  };
  const params = row.params ?? {};
  if (threadId === null || turnId === null || state === null)
    return { ok: true, agent, turn: null, params };
  const history = row.history ?? [];
  const turn = { tenant, id: turnId, threadId, agentRevision: row.agent_revision, state, history };
  return { ok: true, agent, turn, params };
}
