import { formatList } from '../../formats';
import {
  type Condition,
  type FieldMask,
  type Policy,
  type ScopeRule,
  shownValue,
} from '../build/definitions';
import type { BuildTexts } from '../build/texts';

/** Rules of definitions as sentences. */
export function wordsOf(texts: BuildTexts) {
  const condition = ({ field, operator, value }: Condition): string =>
    `${field} ${texts.operators[operator.replace('$', '')] ?? operator} ${shownValue(value)}`;
  return {
    condition,
    conditions: (all: readonly Condition[]): string => formatList(all.map(condition)),
    policy({ resource, actions, effect }: Policy): string {
      const words = formatList(actions.map((action) => texts.actions[action] ?? action));
      const what =
        resource !== '*' ? resource : effect === 'allow' ? texts.everything : texts.anything;
      return effect === 'allow' ? texts.may(words, what) : texts.mayNot(words, what);
    },
    /** One sentence for each condition; alternatives with the same `anyOf` are one. */
    scopeRules(rules: readonly ScopeRule[]): string[] {
      const groups = Map.groupBy(rules, ({ entityType, anyOf }, at) =>
        anyOf === undefined ? at : JSON.stringify([entityType, anyOf]),
      );
      return [...groups.values()].map((group) => texts.only(group.map(condition).join(texts.or)));
    },
    mask: ({ fieldPath, maskType }: FieldMask): string =>
      maskType === 'hide' ? texts.hidden(fieldPath) : texts.redacted(fieldPath),
  };
}
