import { findUnstorable } from '@parley/contracts';
import { type Invalid, type TypeNotFound, invalid } from './result';

/** Whether PostgreSQL can store this text. If not, no stored row has it as its name or id. */
export const isStorable = (text: string): boolean => findUnstorable(text) === null;

/** The failure for a status that PostgreSQL cannot store; null if it can. */
export function unstorableStatus(status: string | undefined): Invalid | null {
  const problem = status === undefined ? null : findUnstorable(status);
  return problem === null ? null : invalid('status', problem.message);
}

/** The failure for a type or status that PostgreSQL cannot store; null if it can store both. */
export function unstorableName({
  type,
  status,
}: {
  type: string;
  status?: string;
}): TypeNotFound | Invalid | null {
  if (!isStorable(type)) return { ok: false, reason: 'type_not_found' };
  return unstorableStatus(status);
}
