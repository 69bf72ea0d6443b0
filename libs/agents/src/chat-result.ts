import type { ChatResponse, Contact, ErrorDetail, JsonObject } from '@parley/contracts';
import type { AgentFailure } from './load-agent';

export interface ChatRequest {
  agent: { id: string } | { slug: string } | { routerSlug: string };
  message: string;
  threadId?: string;
  externalThreadId?: string;
  params?: JsonObject;
  /** Identifies the entities that the rules of a router read. */
  phoneNumber?: string;
  /** api, whatsapp, widget or dashboard. */
  channel: string;
  /** The person who sent the message on a channel; not set for requests to the API. */
  contact?: Contact;
  /** Values of `actor.userId` and `actor.entityId` for a request without a contact. */
  onBehalfOf?: { userId?: string; entityId?: string };
  /** The roles of the callers, a list for each. The agent does only what all of them allow (docs/adr/0041). */
  within?: string[][];
  /** Asked by the system: an agent without roles answers with the rights of the system. */
  bySystem?: boolean;
  requestId?: string;
  /** Aborted when the caller disconnects: the turn ends after the current step. */
  signal?: AbortSignal;
  /** Set by `agent.chat`: the number of agents that wait for this turn, and their slugs. */
  depth?: number;
  parentAgents?: readonly string[];
  hops?: number;
  root?: string;
  /** The execution of the outermost turn, which counts the model calls of the turns nested in it. */
  rootExecutionId?: string;
  /** The number of custom tools that wait for this turn. */
  nesting?: number;
}

export type ChatFailure =
  | AgentFailure
  | { ok: false; reason: 'router_not_found' }
  | { ok: false; reason: 'thread_not_found' }
  | { ok: false; reason: 'invalid_params'; problems: ErrorDetail[] }
  /** The message is stored, but no model answered. `model` is the last one that was called. */
  | { ok: false; reason: 'model_failed' | 'model_timeout' | 'model_not_configured'; model: string; threadId: string }
  /** The message is stored, but the turn, or its wait in the thread's queue, took too long. */
  | { ok: false; reason: 'turn_timeout' | 'thread_busy'; threadId: string }
  /** The caller disconnected, or this process did not renew the turn's lease in time. */
  | { ok: false; reason: 'aborted' | 'interrupted'; threadId: string };

export type ChatResult =
  | {
      ok: true;
      response: ChatResponse;
      /** `stored`: a person has taken the thread over. The message is stored, no agent answers, `message` is "". */
      state: 'answered' | 'stored';
    }
  | ChatFailure;
