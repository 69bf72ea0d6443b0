import { type Json, canonicalJson } from '@parley/contracts';

const known = new WeakMap<Json[], Set<string>>();

/**
 * The canonical texts of the items of a list, which are equal for equal items. Computed once for a
 * list, because a definition can compare it with thousands of values. The list must not change.
 */
export function canonicalTexts(list: Json[]): Set<string> {
  const texts = known.get(list) ?? new Set(list.map((item) => canonicalJson(item)));
  known.set(list, texts);
  return texts;
}
