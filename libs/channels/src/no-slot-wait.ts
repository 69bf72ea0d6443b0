/**
 * The wait after a call that got no slot: about the age of the row, from 1 to 15 seconds. These
 * attempts are not counted, so with a constant wait a backlog behind a provider that hangs would
 * keep senders and the database busy.
 */
export const noSlotWaitMs = (ageMs: number): number =>
  Math.min(Math.max(ageMs, 1_000), 15_000) * (0.5 + Math.random() / 2);
