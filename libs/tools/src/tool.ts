import type { Channels } from '@parley/channels';
import type { Actor, Scope } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { GuardedFetch } from '@parley/outbound';
import type { Payments } from '@parley/payments';
import type { Permissions } from '@parley/permissions';
import type { ExecutorClient } from './custom/executor-client';
import type { McpServers } from './mcp/create-mcp-servers';
import type { ToolContext, ToolLog, ToolPorts } from './types';

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
  mcp?: McpServers;
  ports: ToolPorts;
  /** Of one call, in milliseconds. 30 s by default. */
  timeLimitMs?: number;
}

/** A call that is permitted: whom a tool runs for, and with what. */
export interface PermittedCall {
  deps: ToolDeps;
  scope: Scope;
  actor: Actor;
  context: ToolContext;
  /** Of the caller, when the call is part of its transaction. */
  tx?: Queryable;
  /** What to read with: the transaction, else the db. */
  db: Queryable;
  permissions: Permissions;
  /** The type of the entity that the call is about, permitted already; null for tools about none. */
  entityType: string | null;
  /** Ends the call at its time limit, or when the caller goes away. */
  signal: AbortSignal;
}
