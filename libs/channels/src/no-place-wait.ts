/**
 * The pause after a call that found no place: as long as the row has been waiting. Its tries are not counted, so without
 * this growth a backlog behind a provider that hangs would keep the senders and the database busy.
 */
export const noPlaceWaitMs = (ageMs: number): number =>
  Math.min(Math.max(ageMs, 1_000), 15_000) * (0.5 + Math.random() / 2);
