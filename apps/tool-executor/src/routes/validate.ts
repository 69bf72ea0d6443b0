import { type Handler, unavailable } from '@parley/service';
import type { Executor } from '../executor';

/** Parses a handler without running it; a syntax error comes with its line and column. */
export const validate =
  ({ executor }: { executor: Pick<Executor, 'validate'> }): Handler<'validate'> =>
  async ({ body }) => {
    const result = await executor.validate(body.handlerCode);
    if (result === null) throw unavailable('All sandboxes are busy', 1);
    if (result.ok) return { valid: true };
    const { error, line, column } = result;
    return { valid: false, error, ...(line !== undefined && { line }), ...(column !== undefined && { column }) };
  };
