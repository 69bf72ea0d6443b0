/** The longest chain of triggers (decisions.md, Triggers). The migration of `events` has the same number. */
export const maxHops = 5;

/** Of a change from which no trigger follows: whoever made it did not ask for `cascade`. */
const closedChain = maxHops + 1;

/** Hops of the changes that a run makes. */
export const hopsOfChanges = (runHops: number, cascade: boolean): number => (cascade ? runHops : closedChain);
