import { observerGlobal } from '../observe-statements';
import { createStatementCheck } from './check-statements';

/**
 * Checks the statements of the databases that this process opens from now on. `folder`: where they
 * are written (note-statements.ts).
 */
export function observeProcess(folder: string, options: { isPartitioned: boolean }): void {
  Object.assign(globalThis, { [observerGlobal]: () => createStatementCheck(folder, options) });
}

// Loaded before the code of each test file, and of each process that tests start.
const { PARLEY_TEST_STATEMENTS, PARLEY_TEST_PARTITIONS } = process.env;
if (PARLEY_TEST_STATEMENTS)
  observeProcess(PARLEY_TEST_STATEMENTS, { isPartitioned: PARLEY_TEST_PARTITIONS === 'true' });
