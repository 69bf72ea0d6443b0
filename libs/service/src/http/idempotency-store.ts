export interface IdempotentOperation {
  tenant: number;
  callerId: string;
  /** Method, path and, for a person, the environment. */
  operation: string;
  key: string;
  /** SHA-256 of the body. */
  requestHash: Buffer;
}

/** The right to perform an operation and store its answer. */
export interface IdempotencyClaim {
  tenant: number;
  /** Identifies the operation. A retry after a crash has the same id. */
  id: string;
  /** Identifies the attempt. */
  token: string;
}

export type IdempotencyState =
  | { state: 'started'; claim: IdempotencyClaim }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/** Stores the answers of idempotent requests. Implemented in libs/db. */
export interface IdempotencyStore {
  /** Interval at which a running request renews its claim. A claim that is not renewed expires. */
  renewEveryMs: number;
  /**
   * Claims the key, or returns the state of the request that has claimed it. An expired
   * claim is taken over.
   */
  begin(operation: IdempotentOperation): Promise<IdempotencyState>;
  renew(claim: IdempotencyClaim): Promise<void>;
  /** Stores the answer. Returns false when another attempt has taken the claim over. */
  finish(claim: IdempotencyClaim, status: number, body: string): Promise<boolean>;
  /** Releases the claim of a request that failed and may be retried. */
  abandon(claim: IdempotencyClaim): Promise<void>;
}
