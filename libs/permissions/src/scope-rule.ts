import { type FilterOperator, type Json, type ScopeRule } from '@parley/contracts';

/** `eq` and `$eq`, `ne` and `$neq` are one operator each. */
export function operatorOf(written: ScopeRule['operator']): Exclude<FilterOperator, '$neq'> {
  const operator = (written.startsWith('$') ? written : `$${written}`) as FilterOperator;
  return operator === '$neq' ? '$ne' : operator;
}

export type DynamicValue = { kind: 'userId' } | { kind: 'entityId' } | { kind: 'relatedIds'; entityType: string };

/**
 * What a written value stands for: null when it is a literal, `unknown` when it means to name something of the actor
 * and does not. Near misses (`Actor.userId`, `{{actor.userId}}`) count as the latter: as literals they would match
 * nothing, in silence.
 */
export function dynamicValue(value: Json): DynamicValue | 'unknown' | null {
  if (typeof value !== 'string' || !/^[\s${]*actor\s*[.:[]/i.test(value)) return null;
  if (value === 'actor.userId') return { kind: 'userId' };
  if (value === 'actor.entityId') return { kind: 'entityId' };
  const related = /^actor\.relatedIds:([\w-]+)$/.exec(value)?.[1];
  return related === undefined ? 'unknown' : { kind: 'relatedIds', entityType: related };
}

/** Whether a rule's field can be one: a column, or a path below `data`, which may stand in front of it or not. */
export const isScopeField = (field: string): boolean => field !== 'data' && !field.split('.').includes('');

/** A mask's path below `data`, whether it was written with `data.` in front or not. */
export const maskPath = (fieldPath: string): string => fieldPath.replace(/^data\./, '');
