/** Where an event came from. */
export interface Source {
  isSigned: boolean;
  /** When its delivery was stored, also when it is replayed later. */
  receivedAt: Date;
  /** When it happened, as the event says; null when it does not. */
  happenedAt: Date | null;
}

/**
 * When an upsert may replace a row (docs/adr/0030): a signed event replaces every unsigned state, since a stranger can
 * write any time into an unsigned one; an unsigned event replaces no signed state; otherwise the newer one holds.
 */
export const supersedes = (table: string, isNewer: string): string =>
  `(excluded.verified and not ${table}.verified) or (excluded.verified = ${table}.verified and (${isNewer}))`;

export const supersededReason = (subject: string, { isSigned }: Source): string =>
  `a newer ${isSigned ? '' : 'or a signed '}state of the ${subject} is there`;
