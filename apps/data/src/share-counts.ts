import type { Handler } from '@parley/service';
import { shareRequests } from '@parley/service';

/**
 * Requests of a process that count at the same time. Each waits for a connection of its
 * organization's share, and holds it for up to a second.
 */
const maxRunning = 6;

/** Returns handlers of which requests with `count` are shared among organizations. */
export function shareCounts(handlers: {
  listEntities: Handler<'listEntities'>;
  queryEntities: Handler<'queryEntities'>;
}): typeof handlers {
  const shared = shareRequests({
    total: maxRunning,
    code: 'too_many_counts',
    message: 'Too many counts of the organization are running at the same time',
  });
  const { listEntities, queryEntities } = handlers;
  const [countedList, countedQuery] = [shared(listEntities), shared(queryEntities)];
  return {
    listEntities: (input, context) =>
      (input.query.count ? countedList : listEntities)(input, context),
    queryEntities: (input, context) =>
      (input.body.count ? countedQuery : queryEntities)(input, context),
  };
}
