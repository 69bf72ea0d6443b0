/** Positions that are kept, one a second. */
const maxKept = 600;

/**
 * Measures how far a replica is behind: the age of the oldest position of the primary's log that it
 * has not replayed. The times that a replica itself reports prove nothing: its last transaction is
 * old when the primary is idle, and a replica that has lost its connection has replayed everything
 * that it received.
 */
export function createReplicaLag(now: () => number = () => performance.now()) {
  const waiting: { position: bigint; atMs: number }[] = [];
  let last = 0n;
  return {
    /** Notes the position up to which the primary has written now. */
    written(position: bigint): void {
      // After a failover the new primary may be behind the former one.
      if (position < last) waiting.length = 0;
      last = position;
      if (waiting.length < maxKept) waiting.push({ position, atMs: now() });
    },
    /** Notes the position up to which the replica has replayed. */
    replayed(position: bigint): void {
      const next = waiting.findIndex((one) => one.position > position);
      waiting.splice(0, next === -1 ? waiting.length : next);
    },
    /** How far the replica is behind, in milliseconds. */
    ms: (): number => (waiting.length === 0 ? 0 : now() - waiting[0]!.atMs),
  };
}
