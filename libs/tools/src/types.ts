import type { Actor, Contact, Json, JsonObject, LogLine, Scope } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import type { Explanation } from '@parley/permissions';

export type ToolErrorType =
  | 'not_found'
  | 'tool_not_found'
  | 'permission_denied'
  | 'invalid_arguments'
  | 'execution_error'
  | 'timeout';

export interface ToolFailure {
  ok: false;
  errorType: ToolErrorType;
  message: string;
  /** Which list, role or policy denies the call, as far as its actor may know. */
  reason?: string;
  /**
   * The data store could not be reached. The cause is not the call itself, which may be retried.
   */
  isUnavailable?: true;
  /**
   * Something that the call needs is unavailable, and the call had no effect: it can
   * be retried safely.
   */
  isNotDone?: boolean;
  logs?: LogLine[];
}
/** `logs`: console output of the code of a custom tool. */
export type ToolResult = { ok: true; result: Json; logs?: LogLine[] } | ToolFailure;

/** Where a call comes from. Calls that it makes in turn inherit this. */
export interface ToolContext {
  requestId?: string;
  threadId?: string;
  executionId?: string;
  /** The outermost execution, if agents ask each other: it counts the model calls of all. */
  rootExecutionId?: string;
  /**
   * Identifies the call within its execution, or globally when there is none. A retry
   * has the same id.
   */
  callId?: string;
  agentSlug?: string;
  channel?: string;
  /** The contact of the conversation, on a channel. */
  contact?: Contact;
  params?: JsonObject;
  /** Number of triggers between a person's change and this call. */
  hops: number;
  /** What began the chain of triggers of this call: the id of an event or a run. */
  root?: string;
  /** Number of `agent.chat` calls that contain this call. */
  depth: number;
  /** The agents that wait for this one, outermost first, without `agentSlug` itself. */
  parentAgents?: readonly string[];
  /** Number of custom tools that contain this call. */
  nesting?: number;
  /** The `runAs` roles of the custom tools that contain this call, outermost first. */
  runAs?: readonly string[];
  /** Templates may call `templateOnly` tools; models may not. */
  via?: 'template';
  signal?: AbortSignal;
}

export interface ToolCall {
  /** The name with dots, as in definitions. */
  name: string;
  args: unknown;
  actor: Actor;
  /** The agent's `tools` list; null when the caller is not bound to one (system). */
  allowed: readonly string[] | null;
  context: ToolContext;
  /**
   * A client inside a transaction, of which the call's changes become part. For tools that
   * are `transactional`. An unexpected error is then thrown, because the transaction can
   * no longer commit.
   */
  tx?: Queryable;
  /**
   * Called when the call has passed all checks, before the tool runs. The tool does not run
   * if this rejects.
   */
  onStart?: () => Promise<void>;
  /**
   * Called once with the list, role or policy that allows or denies the call. Not for a tool
   * that does not exist.
   */
  onDecision?: (explanation: Explanation) => void;
}

export interface ToolOffer {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: JsonObject;
  /** Whether the tool may change something. It must then not run twice for one call. */
  sideEffects: boolean;
}

export interface ToolView extends ToolOffer {
  isBuiltin: boolean;
  templateOnly?: boolean;
  /** All its effects are in the database, so it can run inside a given transaction. */
  transactional?: boolean;
}

export interface Tools {
  /**
   * Returns the tools of a list that exist and may be shown to a model, in the order of the list.
   * `templateOnly` tools are left out, `entity.*` is every tool of the namespace, and a tool that
   * is named twice is returned once.
   */
  offer(scope: Scope, names: readonly string[]): Promise<ToolOffer[]>;
  /** Returns one tool by its name, or null. */
  describe(scope: Scope, name: string): Promise<ToolView | null>;
  /**
   * Checks and runs one call. Errors are returned as failures that may be shown to a model; it
   * throws only with `tx`.
   */
  run(scope: Scope, call: ToolCall): Promise<ToolResult>;
}

/** Functions of other libraries that built-in tools use. A tool without its port does not exist. */
export interface ToolPorts {
  chatWithAgent?: (scope: Scope, request: AgentChatRequest) => Promise<ToolResult>;
  transfer?: (scope: Scope, request: TransferRequest) => Promise<ToolResult>;
  handoff?: (scope: Scope, request: HandoffRequest) => Promise<ToolResult>;
  /**
   * Creates a short-lived token with which the code of a custom tool can call tools as its caller.
   */
  mintCallbackToken?: (scope: Scope, grant: CallbackGrant) => string | Promise<string>;
}

/** What the turn of another agent inherits from the call that asks for it. */
type Inherited =
  | 'contact'
  | 'hops'
  | 'root'
  | 'rootExecutionId'
  | 'nesting'
  | 'runAs'
  | 'params'
  | 'requestId'
  | 'signal';

export interface AgentChatRequest extends Pick<ToolContext, Inherited> {
  agentSlug: string;
  message: string;
  /** The caller of `agent.chat`. */
  actor: Actor;
  /** Depth of the requested turn: 1 when it is requested in a person's turn, at most 3. */
  depth: number;
  /** The agents that wait for this one, outermost first. */
  parentAgents: string[];
}

export interface HandoffRequest {
  threadId: string;
  agentSlug: string;
  reason: string;
  /** What the contact gets as the reply of this turn. */
  message?: string;
}

export interface TransferRequest {
  threadId: string;
  executionId?: string;
  fromAgentSlug: string;
  toAgentSlug: string;
  reason?: string;
}

/** The rights of a callback token: calls run as `tools.run(scope, { name, args, ...grant })`. */
export interface CallbackGrant {
  actor: Actor;
  allowed: readonly string[] | null;
  context: Omit<ToolContext, 'signal' | 'via'>;
  expiresInMs: number;
}

export interface ToolLog {
  error(fields: Record<string, unknown>, message: string): void;
}
