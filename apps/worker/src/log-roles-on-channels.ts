import { listActingByRoles } from '@parley/agents';
import { listAnswering } from '@parley/channels';
import type { Queryable } from '@parley/db';
import type { Logger } from '@parley/service';

/** Limits the log lines at the start of a deployment with many organizations. */
const maxLines = 100;

/**
 * Logs a line for each agent that lists roles and answers a connected number, itself or through a
 * router. On channels it acts with these roles, so the log explains why a call is denied there.
 */
export async function logRolesOnChannels(db: Queryable, log: Logger): Promise<void> {
  const answering = (await listAnswering(db, null)).filter(({ isConnected }) => isConnected);
  const rows = await listActingByRoles(db, answering, maxLines + 1);
  for (const row of rows.slice(0, maxLines))
    log.info(row, 'this agent lists roles and acts with them on channels');
  if (rows.length > maxLines)
    log.info(
      `more than ${maxLines} agents act with their roles on channels; the others are not listed`,
    );
}
