import { purgeRows } from '@parley/db';

/** What a purge deletes: triggers first, so that they plan no run meanwhile. */
export const triggersPurge = purgeRows('triggers', 'trigger_runs');
