import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller, Scope } from '@parley/contracts';
import type { Logger } from '../process/logger';
import type { IdempotencyClaim } from './idempotency-store';
import { requestIdOf } from './request-id';

/** What every handler knows of the request beside its parsed input. */
export interface RequestContext {
  readonly requestId: string;
  /** Carries the request id. */
  readonly log: Logger;
  /** Aborted when the client goes away before the answer. */
  readonly signal: AbortSignal;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Adds fields to the request's log line. */
  note(fields: object): void;
}

export interface CallerContext extends RequestContext {
  readonly caller: Caller;
  /** The caller's organization and environment. */
  readonly scope: Scope;
  /** There when the request carries an `Idempotency-Key`. */
  readonly idempotency: RunningIdempotency | undefined;
}

export interface RunningIdempotency extends IdempotencyClaim {
  /** A handler that has kept its answer in the transaction of its work says so. */
  answerKept: boolean;
}

/** One request on its way. What a handler rarely asks for is made when it asks. */
export class Exchange implements CallerContext {
  readonly requestId: string;
  readonly startedAtMs = performance.now();
  /** Pattern of the route that took it; a label of metrics, so never a path. */
  route = 'none';
  /** Known once the request is admitted. */
  knownCaller: Caller | undefined = undefined;
  idempotency: RunningIdempotency | undefined = undefined;
  fields: object | undefined = undefined;
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
    if (this.knownCaller === undefined) throw new Error(`${this.route} does not ask who calls`);
    return this.knownCaller;
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

  note(fields: object): void {
    this.fields = { ...this.fields, ...fields };
  }
}
