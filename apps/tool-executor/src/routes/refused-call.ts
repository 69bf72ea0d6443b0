import { type HttpError, unavailable } from '@parley/service';
import type { RefusedCall } from '../sandbox/pool';

/** 503 for a call that got no process (docs/reference/tools.md#tool-executor). */
export const refusedCall = (reason: RefusedCall): HttpError =>
  reason === 'share'
    ? unavailable(
        "The organization's share of the sandboxes is in use",
        1,
        'executor_share_exceeded',
      )
    : unavailable('All sandboxes are busy', 1);
