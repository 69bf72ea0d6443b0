import { type Handler, unavailable } from '@parley/service';
import type { Executor } from '../executor';

/** Parses a handler without running it. A syntax error has its line and column. */
export const validate =
  ({ executor }: { executor: Pick<Executor, 'validate'> }): Handler<'validate'> =>
  async ({ body }) => {
    const result = await executor.validate(body.handlerCode);
    if (result === null) throw unavailable('All sandboxes are busy', 1);
    if (result.ok) return { valid: true };
    return { valid: false, error: result.error, line: result.line, column: result.column };
  };
