import type { ErrorDetail } from '@parley/contracts';

/** Expected failures of the operations on entities. */
export type TypeNotFound = { ok: false; reason: 'type_not_found' };
export type NotFound = { ok: false; reason: 'not_found' };
/** The entity is there and deleted. */
export type Deleted = { ok: false; reason: 'deleted' };
/** The entity is there, or would be, outside of what the caller's role may touch. */
export type OutOfScope = { ok: false; reason: 'out_of_scope' };
/** `field` is masked for the caller's role: it can be neither asked about nor set. */
export type MaskedField = { ok: false; reason: 'masked_field'; field: string };
/** The change would delete or restore the entity, which the caller may not. */
export type DeleteDenied = { ok: false; reason: 'delete_denied' };
/** The entity is not as the caller's `onlyIf` wants it. */
export type ConditionFailed = { ok: false; reason: 'condition_failed' };
/** The request itself is wrong; each problem names its path. */
export type Invalid = { ok: false; reason: 'invalid'; problems: ErrorDetail[] };

export const invalid = (path: string, message: string): Invalid => ({
  ok: false,
  reason: 'invalid',
  problems: [{ path, message }],
});
