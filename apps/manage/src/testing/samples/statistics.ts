import { insertExecution } from './executions';
import type { Prepare } from './sample';

export const statisticsSamples = {
  async getStatistics(world) {
    await insertExecution(world);
    const query = {
      from: String(Date.now() - 3_600_000),
      to: String(Date.now() + 3_600_000),
      interval: 'hour',
    };
    return { query: { ...query, timezone: 'UTC', agent: 'helper', channel: 'api' } };
  },
} satisfies Record<string, Prepare>;
