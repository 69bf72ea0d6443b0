import type { Actor, ChatResponse, ErrorDetail, JsonObject } from '@parley/contracts';
import type { ToolContext } from '@parley/tools';
import type { FailingAgent } from './failure-reply';
import type { AgentFailure } from './load-agent';

/**
 * What `agent.chat` and channels set. When the signal is aborted, the turn ends after
 * the current step.
 */
type FromContext = Partial<
  Omit<ToolContext, 'threadId' | 'executionId' | 'callId' | 'agentSlug' | 'via'>
>;

export interface ChatRequest extends FromContext {
  agent: { id: string } | { slug: string } | { routerSlug: string };
  message: string;
  threadId?: string;
  /**
   * `threadId` is found only if it is a thread of the API: conversations of channels are not the
   * caller's to read.
   */
  isLimitedToApi?: boolean;
  externalThreadId?: string;
  params?: JsonObject;
  /** Identifies the entities that the rules of a router read. */
  phoneNumber?: string;
  /** api, whatsapp, widget or dashboard. */
  channel: string;
  /**
   * Who asks. The agent acts for the same person, and does only what the roles of both allow
   * (docs/adr/0041).
   */
  caller?: Actor;
  /** Replaces the agent's model for this message. */
  model?: string;
}

export type ChatFailure =
  | AgentFailure
  | { ok: false; reason: 'router_not_found' }
  | { ok: false; reason: 'thread_not_found' }
  | { ok: false; reason: 'invalid_params'; problems: ErrorDetail[] }
  /**
   * The message is stored, but no model answered. `model` is the last one that was called. `detail`
   * is its answer, which may quote messages of people.
   */
  | (StoredFailure & {
      reason:
        | 'model_failed'
        | 'model_timeout'
        | 'model_not_configured'
        | 'content_filter'
        | 'refusal'
        | 'length'
        | 'empty_answer';
      model: string;
      detail: string;
      /** A later attempt would fail in the same way. */
      isLasting: boolean;
    })
  /** The message is stored, but the turn, or its wait in the thread's queue, took too long. */
  | (StoredFailure & { reason: 'turn_timeout' | 'thread_busy' })
  /** The caller disconnected, or this process did not renew the turn's lease in time. */
  | (StoredFailure & { reason: 'aborted' | 'interrupted' });

interface StoredFailure {
  ok: false;
  threadId: string;
  agent: FailingAgent;
}

export type ChatResult =
  | {
      ok: true;
      response: ChatResponse;
      /**
       * `stored`: a person has taken the thread over. The message is stored, no agent answers,
       * `message` is "".
       */
      state: 'answered' | 'stored';
    }
  | ChatFailure;
