import { type FilterOperator, type Json, type ScopeRule } from '@parley/contracts';

/** The query operator of a rule: `eq` means `$eq`, and `$neq` means `$ne`. */
export function operatorOf(written: ScopeRule['operator']): Exclude<FilterOperator, '$neq'> {
  const operator = (written.startsWith('$') ? written : `$${written}`) as FilterOperator;
  return operator === '$neq' ? '$ne' : operator;
}

export type DynamicValue =
  { kind: 'userId' } | { kind: 'entityId' } | { kind: 'relatedIds'; entityType: string };

/**
 * Parses the value of a rule: null for a literal, `unknown` for an invalid reference to the actor.
 * Misspelled references such as `Actor.userId` or `{{actor.userId}}` are `unknown` too, because as
 * literals they would silently match nothing.
 */
export function dynamicValue(value: Json): DynamicValue | 'unknown' | null {
  if (typeof value !== 'string' || !/^[\s${]*actor\s*[.:[]/i.test(value)) return null;
  if (value === 'actor.userId') return { kind: 'userId' };
  if (value === 'actor.entityId') return { kind: 'entityId' };
  const related = /^actor\.relatedIds:([\w-]+)$/.exec(value)?.[1];
  return related === undefined ? 'unknown' : { kind: 'relatedIds', entityType: related };
}

/**
 * Whether a rule's field is valid: a column, or a path in `data`, with or without
 * the prefix `data.`.
 */
export const isScopeField = (field: string): boolean =>
  field !== 'data' && !field.split('.').includes('');

/** The path of a mask without the optional prefix `data.`. */
export const maskPath = (fieldPath: string): string => fieldPath.replace(/^data\./, '');
