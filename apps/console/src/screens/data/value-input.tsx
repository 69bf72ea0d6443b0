import { useId } from 'react';
import { useTexts } from '../../i18n';
import type { DataField } from './fields';
import { isNumeric } from './grid-column';
import { ReferenceInput } from './reference-input';
import { dataCatalog } from './texts';
import { localText } from './values';

const look =
  'w-full rounded border border-n8 bg-n1 px-2 read-only:bg-n2 disabled:bg-n2 aria-invalid:border-failed';

interface ValueInputProps {
  field: DataField;
  /** Without one, the name of the field. */
  label?: string;
  /** The text of the value; empty for null. */
  value: string;
  onChange: (text: string) => void;
  isReadOnly?: boolean;
  isInvalid?: boolean;
  describedBy?: string;
  autoFocus?: boolean;
}

/** The input of a value, as its type needs it. */
export function ValueInput(props: ValueInputProps) {
  const { field, label, value, onChange, isReadOnly, isInvalid, describedBy, autoFocus } = props;
  const texts = useTexts(dataCatalog);
  const id = useId();
  const shared = {
    id,
    value,
    autoFocus,
    'aria-invalid': isInvalid || undefined,
    'aria-describedby': describedBy,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  const isJson = field.kind === 'object' || field.kind === 'array' || field.kind === 'any';
  const isLong =
    value.length > 60 || value.includes('\n') || field.kind === 'object' || field.kind === 'array';
  const options =
    field.options?.map(String) ?? (field.kind === 'boolean' ? ['true', 'false'] : undefined);
  const date = field.kind === 'date' ? dateInput(field, value) : null;
  return (
    <div>
      <label htmlFor={id} className="mb-1 flex flex-wrap items-baseline gap-x-2">
        <span>{label ?? field.name}</span>
        {label === undefined && (
          <span className="text-xs text-n10">
            {field.type}
            {field.isRequired && ` · ${texts.required}`}
          </span>
        )}
      </label>
      {options ? (
        <select {...shared} disabled={isReadOnly} className={`tap h-8 ${look}`}>
          {['', ...options, ...(value === '' || options.includes(value) ? [] : [value])].map(
            (one) => (
              <option key={one} value={one}>
                {field.kind === 'boolean' && one !== ''
                  ? one === 'true'
                    ? texts.yes
                    : texts.no
                  : one}
              </option>
            ),
          )}
        </select>
      ) : field.references !== undefined ? (
        <ReferenceInput
          {...shared}
          type={field.references}
          onPick={onChange}
          isReadOnly={isReadOnly}
        />
      ) : date !== null ? (
        <input
          {...shared}
          type={date.type}
          value={date.value}
          step={date.type === 'datetime-local' ? 1 : undefined}
          readOnly={isReadOnly}
          onChange={({ target }) => onChange(date.read(target.value))}
          className={`tap h-8 ${look}`}
        />
      ) : isLong ? (
        <textarea
          {...shared}
          readOnly={isReadOnly}
          rows={Math.min(12, Math.max(3, Math.ceil(value.length / 60), value.split('\n').length))}
          spellCheck={!isJson}
          className={`py-1 ${isJson ? 'font-mono text-xs' : ''} ${look}`}
        />
      ) : (
        <input
          {...shared}
          readOnly={isReadOnly}
          inputMode={isNumeric(field) ? 'decimal' : undefined}
          className={`tap h-8 ${look}`}
        />
      )}
      {field.description !== undefined && label === undefined && (
        <p className="mt-1 text-xs text-n10">{field.description}</p>
      )}
    </div>
  );
}

/**
 * How a date is chosen. Null: it has a form that the inputs of browsers would change, and
 * is edited as text.
 */
function dateInput(
  { type }: DataField,
  text: string,
): { type: string; value: string; read: (value: string) => string } | null {
  const isTime = type !== 'date';
  if (/^\d+$/.test(text) && Number(text) <= 8.64e15)
    return {
      type: 'datetime-local',
      value: localText(Number(text)),
      read: (value) => (value === '' ? '' : String(Date.parse(value))),
    };
  if (text === '' || /^\d{4}-\d{2}-\d{2}$/.test(text)) {
    if (!isTime) return { type: 'date', value: text, read: (value) => value };
    if (text === '') return { type: 'datetime-local', value: '', read: toUtcText };
  }
  // Only what the input shows and reads without a loss: seconds, in UTC.
  if (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.000)?Z$/.test(text) &&
    !Number.isNaN(Date.parse(text))
  )
    return { type: 'datetime-local', value: localText(Date.parse(text)), read: toUtcText };
  return null;
}

const toUtcText = (value: string): string =>
  value === '' || Number.isNaN(Date.parse(value)) ? '' : new Date(value).toISOString();
