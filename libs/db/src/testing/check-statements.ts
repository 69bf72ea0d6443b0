import type pg from 'pg';
import type { Statement } from '../statement';
import { createPlanCheck } from './check-plans';
import { createResultCheck } from './check-results';
import { checkText } from './check-text';

type Client = Pick<pg.ClientBase, 'query'>;

/**
 * For tests: runs each statement and checks its text, its result and, with partitioned tables (PARLEY_TEST_PARTITIONS),
 * its plan. `folder`: where the names of the statements are written.
 */
export function createStatementCheck(folder: string, { isPartitioned }: { isPartitioned: boolean }) {
  const checkResult = createResultCheck(folder);
  const checkPlans = isPartitioned ? createPlanCheck() : null;
  return async <R>(
    client: Client,
    /** The tenant whose rows the statement may access, or the reason to access rows of several tenants. */
    subject: { tenant?: number } | string,
    statement: Statement,
    send: (client: Client) => Promise<R>,
  ): Promise<R> => {
    checkText(statement);
    const run = async (on: Client): Promise<R> => {
      const result = await send(on);
      await checkResult(on, statement, result as unknown as pg.QueryResult, typeof subject === 'string' ? subject : '');
      return result;
    };
    if (checkPlans === null) return run(client);
    return checkPlans(client, statement, typeof subject === 'string' ? null : subject, run);
  };
}
