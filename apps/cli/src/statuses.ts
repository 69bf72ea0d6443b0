/*
 * The choices of `--status`. They are copies of lists in the libraries, which would slow down
 * `parley --help` if imported.
 */

export const executionStatuses = [
  'queued',
  'running',
  'stalled',
  'succeeded',
  'stored',
  'failed',
  'cancelled',
] as const;
export type ExecutionStatus = (typeof executionStatuses)[number];

export const runStatuses = [
  'scheduled',
  'running',
  'succeeded',
  'dead',
  'cancelled',
  'held',
] as const;
export type RunStatus = (typeof runStatuses)[number];

/**
 * Outbound messages are `queued` to `unknown`, inbound ones `received` to `stored`. Both
 * can be `failed`.
 */
export const messageStatuses =
  'queued sending sent delivered read failed unknown received answering answered stored held'.split(
    ' ',
  );

/** `unknown`: the e-mail may have been sent. */
export const emailStatuses = [
  'queued',
  'sending',
  'sent',
  'delivered',
  'bounced',
  'complained',
  'failed',
  'unknown',
  'held',
];

export const paymentStatuses = ['draft', 'pending', 'paid', 'failed'];

/** What `--kind` of `held` takes: see held/held-kinds.ts. */
export const heldKindNames = 'messages answers emails runs events deliveries payments purges'.split(
  ' ',
);
