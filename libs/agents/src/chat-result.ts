import type { ChatResponse, Contact, ErrorDetail, JsonObject } from '@parley/contracts';
import type { AgentFailure } from './load-agent';

export interface ChatRequest {
  agent: { id: string } | { slug: string } | { routerSlug: string };
  message: string;
  threadId?: string;
  externalThreadId?: string;
  params?: JsonObject;
  /** For routers: whom their rules are about. */
  phoneNumber?: string;
  /** api, whatsapp, widget or dashboard. */
  channel: string;
  /** Who writes, on a channel. Not set for requests to the API. */
  contact?: Contact;
  /** Without a contact: what roles mean by `actor.userId` and `actor.entityId`. */
  onBehalfOf?: { userId?: string; entityId?: string };
  requestId?: string;
  /** Aborted when the caller goes away: the turn ends after the step that runs. */
  signal?: AbortSignal;
  /** Set by `agent.chat`: how many agents wait for this turn, and which. */
  depth?: number;
  parentAgents?: readonly string[];
  hops?: number;
  /** How many custom tools wait for this turn. */
  nesting?: number;
}

export type ChatFailure =
  | AgentFailure
  | { ok: false; reason: 'router_not_found' }
  | { ok: false; reason: 'thread_not_found' }
  | { ok: false; reason: 'invalid_params'; problems: ErrorDetail[] }
  /** The message is stored; the model gave no answer. `code` is stable, `model` is the last one asked. */
  | { ok: false; reason: 'model_failed' | 'model_timeout' | 'model_not_configured'; model: string; threadId: string }
  /** The message is stored; the turn ran out of time, or its place in the thread's line did not come in time. */
  | { ok: false; reason: 'turn_timeout' | 'thread_busy'; threadId: string }
  /** The caller went away, or this process was taken for dead. */
  | { ok: false; reason: 'aborted' | 'interrupted'; threadId: string };

export type ChatResult =
  | {
      ok: true;
      response: ChatResponse;
      /** `stored`: a person has taken the conversation over; the message is kept, nobody was asked, `message` is "". */
      state: 'answered' | 'stored';
    }
  | ChatFailure;
