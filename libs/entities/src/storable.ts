import { findUnstorable } from '@parley/contracts';

/** Whether PostgreSQL can hold this text: a name that it cannot hold names nothing. */
export const isStorable = (text: string): boolean => findUnstorable(text) === null;
