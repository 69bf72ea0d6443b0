import type { DecimalSign } from '@parley/rows';
import { useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { dataCatalog } from './texts';

/** How numbers are written in what is pasted or imported. */
export function DecimalChoice({
  value,
  onChange,
}: {
  value: DecimalSign;
  onChange: (sign: DecimalSign) => void;
}) {
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
