import { type DecimalSign, readValue } from '@parley/rows';
import { useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { dataCatalog } from './texts';

/** The decimal sign that all of these texts allow; `fallback` when both do, or none. */
export function guessDecimal(texts: Iterable<string>, fallback: DecimalSign): DecimalSign {
  const numbers = [...texts].filter((text) => /\d/.test(text) && /^[-+\d.,\s\p{Sc}]+$/u.test(text));
  const allows = (sign: DecimalSign) => numbers.every((text) => readValue(text, 'number', sign).ok);
  const other = fallback === '.' ? ',' : '.';
  return !allows(fallback) && allows(other) ? other : fallback;
}

/** How numbers are written in what is pasted or imported. */
export function DecimalChoice({ value, onChange }: { value: DecimalSign; onChange: (sign: DecimalSign) => void }) {
  const texts = useTexts(dataCatalog);
  return (
    <Choice
      label={texts.decimals}
      value={value}
      onChange={({ target }) => onChange(target.value as DecimalSign)}
      options={[
        ['.', texts.numbersLike('1,234.5')],
        [',', texts.numbersLike('1.234,5')],
      ]}
    />
  );
}
