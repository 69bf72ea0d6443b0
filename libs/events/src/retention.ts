import { purgeRows } from '@parley/db';

/** What a purge deletes. */
export const eventsPurge = purgeRows('events');
