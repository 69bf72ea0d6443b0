export interface IdempotentOperation {
  tenant: number;
  callerId: string;
  /** Method and path. */
  operation: string;
  key: string;
  /** SHA-256 of the body. */
  requestHash: Buffer;
}

/** The right to answer an operation. */
export interface IdempotencyClaim {
  tenant: number;
  /** Names the operation: a second try after a crash has the same. */
  id: string;
  /** Names the try. */
  token: string;
}

export type IdempotencyState =
  | { state: 'started'; claim: IdempotencyClaim }
  | { state: 'running' }
  | { state: 'done'; status: number; body: string }
  | { state: 'other_request' };

/** Where first answers are kept (libs/db implements it). */
export interface IdempotencyStore {
  /** How often a claim must be renewed, or it counts as left behind by a process that died. */
  renewEveryMs: number;
  /** Claims the key, or says what became of it. A claim that was left behind is taken over. */
  begin(operation: IdempotentOperation): Promise<IdempotencyState>;
  renew(claim: IdempotencyClaim): Promise<void>;
  /** False when another try has taken over. */
  finish(claim: IdempotencyClaim, status: number, body: string): Promise<boolean>;
  /** Gives the claim back: the request failed in a way that a retry may mend. */
  abandon(claim: IdempotencyClaim): Promise<void>;
}
