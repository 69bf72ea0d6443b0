import { findUnstorable } from '@parley/contracts';
import { type Invalid, type TypeNotFound, invalid } from './result';

/** Whether PostgreSQL can hold this text: a name that it cannot hold names nothing. */
export const isStorable = (text: string): boolean => findUnstorable(text) === null;

/** What is wrong with names that PostgreSQL cannot hold; null when nothing is. */
export function unstorableName({ type, status }: { type: string; status?: string }): TypeNotFound | Invalid | null {
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  return status === undefined || isStorable(status) ? null : invalid('status', 'status contains what cannot be stored');
}
