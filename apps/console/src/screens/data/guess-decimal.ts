import { type DecimalSign, readValue } from '@parley/rows';

/** The decimal sign that all of these texts allow; `fallback` when both do, or none. */
export function guessDecimal(texts: Iterable<string>, fallback: DecimalSign): DecimalSign {
  const numbers = [...texts].filter((text) => /\d/.test(text) && /^[-+\d.,\s\p{Sc}]+$/u.test(text));
  const allows = (sign: DecimalSign) => numbers.every((text) => readValue(text, 'number', sign).ok);
  const other = fallback === '.' ? ',' : '.';
  return !allows(fallback) && allows(other) ? other : fallback;
}
