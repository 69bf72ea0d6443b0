import type { Channels } from '@parley/channels';
import type { Db } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { GuardedFetch } from '@parley/outbound';
import type { Payments } from '@parley/payments';
import type { ExecutorClient } from './custom/executor-client';
import type { McpServers } from './mcp/create-mcp-servers';
import type { ToolLog, ToolPorts } from './types';

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
