import type { Channels } from '@parley/channels';
import type { Actor, JsonObject, Scope } from '@parley/contracts';
import type { Db, Queryable, SecretBox } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { GuardedFetch } from '@parley/outbound';
import type { Payments } from '@parley/payments';
import type { Action, Permissions } from '@parley/permissions';
import type { ExecutorClient } from './custom/executor-client';
import type { ToolContext, ToolFailure, ToolLog, ToolPorts, ToolResult, ToolView } from './types';

export interface ToolDeps {
  db: Db;
  entities: Entities;
  log: ToolLog;
  fetchGuarded?: GuardedFetch['fetch'];
  executor?: ExecutorClient;
  /** Decrypts the secrets of custom tools; without it tools that declare one fail. */
  box?: SecretBox;
  /** WhatsApp and e-mail; without it their tools do not exist. */
  channels?: Channels;
  /** The payment provider; without it its tools do not exist. */
  payments?: Payments;
  /** The tools of MCP servers; without it there are none. */
  mcp?: ToolSource;
  ports: ToolPorts;
  /** Time limit of one call. Default 30 s. */
  timeLimitMs?: number;
}

/** The context of a permitted call. */
export interface PermittedCall {
  /** The name of the tool. */
  name: string;
  deps: ToolDeps;
  scope: Scope;
  actor: Actor;
  /** The caller's list of tools. It also limits the calls that the tool makes. */
  allowed: readonly string[] | null;
  context: ToolContext;
  /** The caller's transaction, when the call is part of one. */
  tx?: Queryable;
  /** The transaction when there is one, else the database. */
  db: Queryable;
  permissions: Permissions;
  /** The entity type of the call, already permitted; null for tools that are not about one. */
  entityType: string | null;
  /** Aborted at the time limit of the call, or when the caller aborts. */
  signal: AbortSignal;
  /** Time limit of the whole call. */
  timeLimitMs: number;
}

type Checked = { ok: true; run: (call: PermittedCall) => Promise<ToolResult> } | ToolFailure;

/** A tool, run by this process, the tool executor or an MCP server. */
export interface Tool extends ToolView {
  /**
   * `execute` on the name, or an action on the argument `type`, else on the type of the entity
   * in `entityIdIn`.
   */
  needs: { action: 'execute' } | { action: Exclude<Action, 'execute'>; entityIdIn?: string };
  /** Time limit of one call. Default: that of `ToolDeps`. */
  timeLimitMs?: number;
  /**
   * Checks the arguments of one call. `run` fails when arguments can only be checked while it runs.
   */
  check(args: JsonObject): Checked | Promise<Checked>;
}

/** Where tools come from. A name is looked up in the first source that owns it, and in no other. */
export interface ToolSource {
  /** Depends on the name alone, which may be a pattern (`orders.*`, `*`). */
  owns(name: string): boolean;
  find(scope: Scope, name: string): Promise<Tool | null>;
  /** Returns at least the tools that match these names, all of which this source owns. */
  list(scope: Scope, names: readonly string[]): Promise<Tool[]>;
}
