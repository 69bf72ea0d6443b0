import type { Db, SecretBox } from '@parley/db';
import type { Entities } from '@parley/entities';
import type { FlowClientOptions } from './flow/flow-client';

/** Steps of creating a payment, between which tests kill the process. */
export type PaymentStep = 'drafted' | 'claimed' | 'ordered' | 'recorded';

export type PaymentSource = 'webhook' | 'reconciliation' | 'tool';

/** An occurrence that metrics count. */
export type PaymentObservation =
  | { kind: 'created'; result: 'pending' | 'failed' }
  | { kind: 'settled'; status: 'paid' | 'failed'; source: PaymentSource }
  | { kind: 'mismatch'; source: PaymentSource }
  | { kind: 'reconciled'; result: 'paid' | 'failed' | 'unchanged' | 'mismatch' | 'error' };

export interface PaymentsLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface PaymentsDeps {
  db: Db;
  entities: Entities;
  box: SecretBox;
  /**
   * Public address of the gateway, without a trailing slash. The provider sends its callback there.
   */
  publicUrl: string;
  log: PaymentsLog;
  /**
   * Address of the stand-ins of development, for environments without an account (docs/adr/0049).
   */
  standInsUrl?: string;
  observe?: (observation: PaymentObservation) => void;
  onStep?: (step: PaymentStep, paymentId: string) => void | Promise<void>;
  flow?: Omit<FlowClientOptions, 'signal' | 'slotWaitMs'>;
}
