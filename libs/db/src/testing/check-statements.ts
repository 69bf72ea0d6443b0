import type pg from 'pg';
import type { Statement } from '../statement';
import { createPlanCheck } from './check-plans';
import { createResultCheck } from './check-results';
import { checkText } from './check-text';
import { type Subject, createNotes } from './note-statements';

type Client = Pick<pg.ClientBase, 'query'>;

/**
 * For tests: runs each statement and checks its text, its result and, with partitioned tables
 * (PARLEY_TEST_PARTITIONS), its plan. `folder`: where the statements are written
 * (note-statements.ts).
 */
export function createStatementCheck(
  folder: string,
  { isPartitioned }: { isPartitioned: boolean },
) {
  const checkResult = createResultCheck();
  const note = createNotes(folder);
  const checkPlans = isPartitioned ? createPlanCheck() : null;
  return async <R>(
    client: Client,
    subject: Subject,
    statement: Statement,
    values: readonly unknown[],
    send: (client: Client) => Promise<R>,
  ): Promise<R> => {
    checkText(statement);
    const run = async (on: Client): Promise<R> => {
      const result = await send(on);
      await checkResult(on, statement, result as unknown as pg.QueryResult);
      note(subject, statement, values);
      return result;
    };
    if (checkPlans === null) return run(client);
    return checkPlans(client, statement, typeof subject === 'string' ? null : subject, run);
  };
}
