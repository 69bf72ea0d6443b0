import { readStatistics } from '@parley/agents';
import type { Db } from '@parley/db';
import type { Handler } from '@parley/service';
import { msOf } from '../page';

interface Handlers {
  getStatistics: Handler<'getStatistics'>;
}

export const createStatisticsHandlers = ({ db }: { db: Db }): Handlers => ({
  async getStatistics({ query }, { scope }) {
    const { from, to, interval, timezone, agent, channel } = query;
    const range = {
      from: new Date(from),
      to: new Date(to),
      interval,
      timezone,
      agentSlug: agent,
      channel,
    };
    const { completeUntil, buckets } = await readStatistics(db, scope, range);
    return {
      completeUntil: completeUntil.getTime() === 0 ? null : msOf(completeUntil),
      data: buckets.map(({ start, ...bucket }) => ({ ...bucket, start: msOf(start) })),
    };
  },
});
