import type { Channels } from '@parley/channels';
import type { Actor, JsonObject, Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { GuardedFetch } from '@parley/outbound';
import type { Payments } from '@parley/payments';
import type { Action, Permissions } from '@parley/permissions';
import type { ExecutorClient } from './custom/executor-client';
import type { ToolContext, ToolFailure, ToolLog, ToolPorts, ToolResult, ToolView } from './types';

/** What tools are run with. */
export interface ToolDeps {
  db: Db;
  entities: Entities;
  log: ToolLog;
  fetchGuarded?: GuardedFetch['fetch'];
  executor?: ExecutorClient;
  /** WhatsApp and e-mail; without it their tools do not exist. */
  channels?: Channels;
  /** The payment provider; without it its tools do not exist. */
  payments?: Payments;
  /** The tools of MCP servers; without it there are none. */
  mcp?: ToolSource;
  ports: ToolPorts;
  /** Of one call, in milliseconds. 30 s by default. */
  timeLimitMs?: number;
}

/** A call that is permitted: whom a tool runs for, and with what. */
export interface PermittedCall {
  deps: ToolDeps;
  scope: Scope;
  actor: Actor;
  /** The caller's list, which also holds for calls that the tool makes. */
  allowed: readonly string[] | null;
  context: ToolContext;
  /** Of the caller, when the call is part of its transaction. */
  tx?: Queryable;
  /** What to read with: the transaction, else the database. */
  db: Queryable;
  permissions: Permissions;
  /** The type of the entity that the call is about, permitted already; null for tools about none. */
  entityType: string | null;
  /** Ends the call at its time limit, or when the caller goes away. */
  signal: AbortSignal;
  /** Of the whole call. */
  timeLimitMs: number;
}

/** Something that can be called, whether this process, the tool executor or an MCP server runs it. */
export interface Tool extends ToolView {
  /**
   * What must be permitted: `execute` on the tool's own name, or an action on the type of the entity that the
   * arguments name, by `type` or by the id in the given argument.
   */
  needs: { action: 'execute' } | { action: Exclude<Action, 'execute'>; entityIdIn?: string };
  /** Of one call; that of all tools without it. */
  timeLimitMs?: number;
  /** Checks the arguments of one call. What can only be checked while it runs is a failure of `run`. */
  check(args: JsonObject): { ok: true; run: (call: PermittedCall) => Promise<ToolResult> } | ToolFailure;
}

/** Where tools come from. A name is looked up in the first source that owns it, and in no other. */
export interface ToolSource {
  /** Decided by the name alone. A pattern (`orders.*`, `*`) is a name, too. */
  owns(name: string): boolean;
  find(scope: Scope, name: string): Promise<Tool | null>;
  /** At least the tools that a list means by the names that this source owns. */
  list(scope: Scope, names: readonly string[]): Promise<Tool[]>;
}
