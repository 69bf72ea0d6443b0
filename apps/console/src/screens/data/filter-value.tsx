import { useEffect, useRef, useState } from 'react';
import { useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import type { DataField } from './fields';
import { isNumeric } from './grid-column';
import type { FilterProblem } from './search';
import { dataCatalog } from './texts';
import { localText } from './values';

interface FilterValueProps {
  field: DataField;
  /** Several values, separated by commas. */
  isList: boolean;
  /** A part of the value, which has no options. */
  isPart: boolean;
  /** Its dates are stored as Unix milliseconds. */
  hasMoments: boolean;
  value: string;
  problem: FilterProblem | undefined;
  onChange: (text: string) => void;
}

/** The value of a filter, as the type of its field needs it. */
export function FilterValue({
  field,
  isList,
  isPart,
  hasMoments,
  value,
  problem,
  onChange,
}: FilterValueProps) {
  const texts = useTexts(dataCatalog);
  const options = isPart
    ? undefined
    : (field.options?.map(String) ?? (field.kind === 'boolean' ? ['true', 'false'] : undefined));
  if (options && isList) return <Options options={options} value={value} onChange={onChange} />;
  if (options)
    return (
      <Choice
        label={texts.value}
        value={value}
        onChange={({ target }) => onChange(target.value)}
        options={['', ...new Set([...options, ...(value === '' ? [] : [value])])].map(
          (one) => [one, one === '' ? texts.choose : nameOf(one, field, texts)] as const,
        )}
      />
    );
  if (field.kind === 'date' && hasMoments && isMoment(value))
    return (
      <input
        aria-label={texts.value}
        type="datetime-local"
        defaultValue={value === '' ? '' : localText(Number(value))}
        onBlur={({ target }) => onChange(momentOf(target.value))}
        onKeyDown={({ key, currentTarget }) =>
          key === 'Enter' && onChange(momentOf(currentTarget.value))
        }
        className="tap h-8 rounded border border-n8 bg-n1 px-2"
      />
    );
  return (
    <WrittenValue
      field={field}
      isList={isList}
      hasMoments={hasMoments}
      value={value}
      problem={problem}
      onChange={onChange}
    />
  );
}

/**
 * A value that is written, which is applied with Enter, after a pause, or when the
 * person leaves it.
 */
function WrittenValue(props: Omit<FilterValueProps, 'isPart'>) {
  const { field, isList, hasMoments, value, problem, onChange } = props;
  const texts = useTexts(dataCatalog);
  const [text, setText] = useState(value);
  const apply = () => text !== value && onChange(text);
  const latest = useRef(apply);
  latest.current = apply;
  const pause = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(pause.current), []);
  const isDay =
    field.kind === 'date' && !hasMoments && (text === '' || /^\d{4}-\d{2}-\d{2}$/.test(text));
  return (
    <input
      aria-label={texts.value}
      aria-invalid={(problem !== undefined && problem !== 'missing') || undefined}
      type={isDay ? 'date' : 'text'}
      inputMode={isNumeric(field) && !isList ? 'decimal' : undefined}
      placeholder={isList ? texts.listHint : undefined}
      value={text}
      maxLength={10_000}
      onChange={({ target }) => {
        setText(target.value);
        clearTimeout(pause.current);
        pause.current = setTimeout(() => latest.current(), 500);
        // A chosen day is complete.
        if (target.type === 'date' && target.value !== '') onChange(target.value);
      }}
      onBlur={apply}
      onKeyDown={({ key }) => key === 'Enter' && apply()}
      className="tap h-8 w-36 rounded border border-n8 bg-n1 px-2 aria-invalid:border-failed"
    />
  );
}

/** Unix milliseconds, so that a link means the same moment in all zones. */
const isMoment = (text: string): boolean => /^\d{0,16}$/.test(text) && Number(text) <= 8.64e15;
const momentOf = (local: string): string => (local === '' ? '' : String(Date.parse(local)));

const nameOf = (
  value: string,
  { kind }: DataField,
  { yes, no }: { yes: string; no: string },
): string => (kind !== 'boolean' ? value : value === 'true' ? yes : no);

/** Several of the allowed values. */
function Options({
  options,
  value,
  onChange,
}: {
  options: readonly string[];
  value: string;
  onChange: (text: string) => void;
}) {
  const texts = useTexts(dataCatalog);
  const chosen = new Set(value.split(',').filter((one) => one !== ''));
  const toggle = (one: string) =>
    onChange(
      options
        .filter((option) => (option === one ? !chosen.has(one) : chosen.has(option)))
        .join(','),
    );
  return (
    <span role="group" aria-label={texts.value} className="inline-flex flex-wrap gap-x-2">
      {options.map((one) => (
        <label key={one} className="tap inline-flex items-center gap-1 px-1">
          <input type="checkbox" checked={chosen.has(one)} onChange={() => toggle(one)} />
          {one}
        </label>
      ))}
    </span>
  );
}
