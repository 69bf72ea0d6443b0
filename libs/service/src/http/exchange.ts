import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Scope, SignedIn } from '@parley/contracts';
import type { Logger } from '../process/logger';
import { unauthorized } from './errors';
import type { IdempotencyClaim } from './idempotency-store';
import { requestIdOf } from './request-id';

/** The parts of a request that a handler receives besides the parsed input. */
export interface RequestContext {
  readonly requestId: string;
  /** Adds the request id to each line. */
  readonly log: Logger;
  /** Aborted when the client disconnects before the answer. */
  readonly signal: AbortSignal;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Adds fields to the request's log line. */
  addLogFields(fields: object): void;
}

export interface CallerContext extends RequestContext {
  readonly caller: Caller;
  /** The caller's organization and environment. */
  readonly scope: Scope;
  /**
   * Checks the caller again, for answers that take long. Throws the error for a caller that may no
   * longer ask, and rejects when that cannot be known now.
   */
  readonly checkAgain: () => Promise<void>;
  /** Set when the request has an `Idempotency-Key`. */
  readonly idempotency: RunningIdempotency | undefined;
}

export interface RunningIdempotency extends IdempotencyClaim {
  /** Set by a handler that has stored its answer in the transaction of its work. */
  isAnswerStored: boolean;
}

/**
 * One request and its answer. The logger and the signal are created at first use, because few
 * handlers need them.
 */
export class Exchange implements CallerContext {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  /** Pattern of the matched route. A label of metrics, so never a path. */
  route = 'none';
  /** Set after authentication. */
  knownCaller: Caller | undefined = undefined;
  /** Set for an operation of a signed-in person. */
  knownPerson: SignedIn | undefined = undefined;
  idempotency: RunningIdempotency | undefined = undefined;
  checkAgain: () => Promise<void> = async () => {
    throw unauthorized();
  };
  fields: object | undefined = undefined;
  /** What the pace of large answers has reserved for this one. */
  reservedBytes = 0;
  #log: Logger | undefined = undefined;
  #controller: AbortController | undefined = undefined;

  constructor(
    readonly request: IncomingMessage,
    readonly response: ServerResponse,
    private readonly processLog: Logger,
  ) {
    this.requestId = requestIdOf(request);
  }

  get caller(): Caller {
    if (this.knownCaller === undefined)
      throw new Error(`${this.route} does not authenticate its caller`);
    return this.knownCaller;
  }

  get person(): SignedIn {
    if (this.knownPerson === undefined) throw new Error(`${this.route} requires no session`);
    return this.knownPerson;
  }

  get scope(): Scope {
    const { organizationId, tenant, environment } = this.caller;
    return { organizationId, tenant, environment };
  }

  get log(): Logger {
    return (this.#log ??= this.processLog.child({ requestId: this.requestId }));
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      const controller = (this.#controller = new AbortController());
      const { response } = this;
      if (response.destroyed && !response.writableFinished) controller.abort();
      else response.once('close', () => response.writableFinished || controller.abort());
    }
    return this.#controller.signal;
  }

  addLogFields(fields: object): void {
    this.fields = { ...this.fields, ...fields };
  }
}
