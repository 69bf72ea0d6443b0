import type { Handler } from '@parley/service';
import type { Executor } from '../executor';
import { refusedCall } from './refused-call';

/** Parses a handler without running it. A syntax error has its line and column. */
export const validate =
  ({ executor }: { executor: Pick<Executor, 'validate'> }): Handler<'validate'> =>
  async ({ body }) => {
    const result = await executor.validate(body.handlerCode, body.organizationId);
    if ('kind' in result) throw refusedCall(result.reason);
    if (result.ok) return { valid: true };
    return { valid: false, error: result.error, line: result.line, column: result.column };
  };
