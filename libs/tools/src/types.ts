import type { Actor, Contact, Json, JsonObject, LogLine, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';

export type ToolErrorType =
  'not_found' | 'tool_not_found' | 'permission_denied' | 'invalid_arguments' | 'execution_error' | 'timeout';

export interface ToolFailure {
  ok: false;
  errorType: ToolErrorType;
  message: string;
  /** The data store could not be reached: it says nothing of the call, which may be tried again. */
  isUnavailable?: true;
  /** What the call needs is away, and it has done nothing: whoever made it may make it again. */
  isNotDone?: boolean;
  logs?: LogLine[];
}
/** `logs`: what the code of a custom tool has written to its console. */
export type ToolResult = { ok: true; result: Json; logs?: LogLine[] } | ToolFailure;

/** Where a call comes from. It is handed on to whatever the call starts in turn. */
export interface ToolContext {
  requestId?: string;
  threadId?: string;
  executionId?: string;
  /** Names the call inside its execution. Without an execution it is unique, and the same when a call is tried again. */
  callId?: string;
  agentSlug?: string;
  channel?: string;
  /** Who writes, on a channel. */
  contact?: Contact;
  params?: JsonObject;
  /** Triggers between this call and the change a person made. */
  hops: number;
  /** How many `agent.chat` calls this one is inside of. */
  depth: number;
  /** The agents of those calls, outermost first, without `agentSlug` itself. */
  parentAgents?: readonly string[];
  /** How many custom tools this call is inside of. */
  nesting?: number;
  /** Templates may call `templateOnly` tools; models may not. */
  via?: 'template';
  signal?: AbortSignal;
}

export interface ToolCall {
  /** With dots, as users write it. */
  name: string;
  args: unknown;
  actor: Actor;
  /** The agent's `tools` list; null when the caller is not bound to one (system). */
  allowed: readonly string[] | null;
  context: ToolContext;
  /**
   * A client inside a transaction: what the call changes is part of that transaction. For tools that are
   * `transactional`; what fails unexpectedly is then thrown, as the transaction is over.
   */
  tx?: Queryable;
}

export interface ToolOffer {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** Whether it may change something: then it must not run twice for one call. */
  sideEffects: boolean;
}

export interface ToolView extends ToolOffer {
  isBuiltin: boolean;
  templateOnly?: boolean;
  /** All of its effect is in the database, and a transaction may be given for it. */
  transactional?: boolean;
}

export interface Tools {
  /**
   * The tools of a list that exist and may be shown to a model, in its order: `templateOnly` ones are left out,
   * `entity.*` stands for all of that namespace, a tool named twice comes once.
   */
  offer(scope: Scope, names: readonly string[]): Promise<ToolOffer[]>;
  /** One tool by its name; null when there is none. */
  describe(scope: Scope, name: string): Promise<ToolView | null>;
  /** Checks and runs one call. Never throws: whatever goes wrong is a failure that may be shown to a model. */
  run(scope: Scope, call: ToolCall): Promise<ToolResult>;
}

/** What this lib needs from those above it; plugged in by the process entry. A tool without its port is not there. */
export interface ToolPorts {
  chatWithAgent?: (scope: Scope, request: AgentChatRequest) => Promise<ToolResult>;
  transfer?: (scope: Scope, request: TransferRequest) => Promise<ToolResult>;
  /** A short-lived token with which the code of a custom tool may call tools as its caller. */
  mintCallbackToken?: (scope: Scope, grant: CallbackGrant) => string | Promise<string>;
}

export interface AgentChatRequest {
  agentSlug: string;
  message: string;
  /** Who asks. */
  actor: Actor;
  /** Who writes, on a channel: the agent that is asked acts by its own roles, on behalf of the same contact. */
  contact?: Contact;
  /** For the run that is asked for: 1 when a person's turn asks, at most 3. */
  depth: number;
  /** The agents that wait for this one, outermost first. */
  parentAgents: string[];
  hops: number;
  /** How many custom tools wait for this answer: each holds a sandbox meanwhile. */
  nesting?: number;
  params?: JsonObject;
  requestId?: string;
  signal?: AbortSignal;
}

export interface TransferRequest {
  threadId: string;
  executionId?: string;
  fromAgentSlug: string;
  toAgentSlug: string;
  reason?: string;
}

/** What a call made with a callback token is run with: `tools.run(scope, { name, args, ...grant })`. */
export interface CallbackGrant {
  actor: Actor;
  allowed: readonly string[] | null;
  context: Omit<ToolContext, 'signal' | 'via'>;
  expiresInMs: number;
}

export interface ToolLog {
  error(fields: Record<string, unknown>, message: string): void;
}
