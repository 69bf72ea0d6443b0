import type { ErrorDetail } from '@parley/contracts';

// The expected failures of operations on entities.

export type TypeNotFound = { ok: false; reason: 'type_not_found' };
export type NotFound = { ok: false; reason: 'not_found' };
/** The entity exists and is deleted. */
export type Deleted = { ok: false; reason: 'deleted' };
/** The entity is outside of the scope of the caller's role, or the change would move it there. */
export type OutOfScope = { ok: false; reason: 'out_of_scope' };
/** `field` is masked for the caller's role, so it can be neither queried nor set. */
export type MaskedField = { ok: false; reason: 'masked_field'; field: string };
/** The change would delete or restore the entity, which the caller's role does not permit. */
export type DeleteDenied = { ok: false; reason: 'delete_denied' };
/** `data` would have this size, which is above the maximum. */
export type TooLarge = { ok: false; reason: 'too_large'; bytes: number };
/** The entity does not match `onlyIf`. */
export type ConditionFailed = { ok: false; reason: 'condition_failed' };
/** Problems that one answer reports. */
export const maxProblems = 100;

/** The request is invalid. Each problem has the path of a field. */
export type Invalid = { ok: false; reason: 'invalid'; problems: ErrorDetail[] };

export const invalid = (path: string, message: string): Invalid => ({
  ok: false,
  reason: 'invalid',
  problems: [{ path, message }],
});
