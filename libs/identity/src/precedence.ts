/** The origin of an event. */
export interface Source {
  isSigned: boolean;
  /** When its delivery was stored. A replay does not change it. */
  receivedAt: Date;
  /** The time of the event; null when it has none. */
  happenedAt: Date | null;
}

/**
 * SQL condition under which an upsert replaces a row (docs/adr/0030). A signed event replaces every
 * unsigned state, whose time may be forged. An unsigned event replaces no signed state. Otherwise
 * the newer state replaces the older one.
 */
export const supersedes = (table: string, isNewer: string): string =>
  `(excluded.verified and not ${table}.verified) or (excluded.verified = ${table}.verified and (${isNewer}))`;

/** The reason of an event that was ignored under that condition. */
export const supersededReason = (subject: string, { isSigned }: Source): string =>
  `a newer ${isSigned ? '' : 'or a signed '}state of the ${subject} exists`;
