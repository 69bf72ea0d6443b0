import {
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
  useState,
} from 'react';

export interface LabelledProps {
  label: string;
  hint?: ReactNode;
  error?: string;
  className?: string;
}

/** A label above a control, and below it a hint or an error that screen readers read with it. */
export function Labelled({
  label,
  hint,
  error,
  className,
  children,
}: LabelledProps & {
  children: (control: {
    id: string;
    'aria-invalid': boolean;
    'aria-describedby': string | undefined;
  }) => ReactNode;
}) {
  const id = useId();
  const below = error ?? hint;
  const belowId = below ? `${id}-hint` : undefined;
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1 block text-n11">
        {label}
      </label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': belowId })}
      {below && (
        <p id={belowId} className={`mt-1 text-xs ${error ? 'text-failed' : 'text-n10'}`}>
          {below}
        </p>
      )}
    </div>
  );
}

export const boxLook = 'w-full rounded border border-n8 bg-n1 px-2';

/** A labelled text of several lines. */
export function Area({
  label,
  hint,
  className,
  rows = 3,
  ...rest
}: LabelledProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled label={label} hint={hint} className={className}>
      {(control) => (
        <textarea rows={rows} {...control} {...rest} className={`block py-1 ${boxLook}`} />
      )}
    </Labelled>
  );
}

/**
 * A labelled select of the browser, with all its room. What is chosen stays when its options are
 * loaded later, or again.
 */
export function Pick({
  label,
  hint,
  className,
  options,
  defaultValue = '',
  ...rest
}: LabelledProps &
  SelectHTMLAttributes<HTMLSelectElement> & {
    options: readonly (readonly [value: string, text: string])[];
  }) {
  const [chosen, choose] = useState(defaultValue);
  return (
    <Labelled label={label} hint={hint} className={className}>
      {(control) => (
        <select
          value={chosen}
          onChange={({ target }) => choose(target.value)}
          {...control}
          {...rest}
          className={`tap h-8 ${boxLook}`}
        >
          {options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  );
}

interface CheckProps {
  label: string;
  hint?: string;
  name?: string;
  value?: string;
  type?: 'checkbox' | 'radio';
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}

/** One of several things that are on or off, or of which one is chosen. */
export function Check({ label, hint, type = 'checkbox', isOn, onChange, ...rest }: CheckProps) {
  return (
    <label className="tap flex items-start gap-2 rounded py-1">
      <input
        type={type}
        {...rest}
        checked={isOn}
        onChange={({ target }) => onChange(target.checked)}
        className="mt-0.5 size-4 shrink-0"
      />
      <span>
        {label}
        {hint && <span className="block text-xs text-n10">{hint}</span>}
      </span>
    </label>
  );
}

interface RadiosProps<Value extends string> {
  legend: string;
  name: string;
  value: Value;
  options: readonly { value: Value; label: string; hint?: string }[];
  onChange: (value: Value) => void;
}

/** One of a few values, all of which are shown. */
export function Radios<Value extends string>({
  legend,
  name,
  value,
  options,
  onChange,
}: RadiosProps<Value>) {
  return (
    <fieldset>
      <legend className="mb-1 text-n11">{legend}</legend>
      {options.map((option) => (
        <Check
          key={option.value}
          {...option}
          name={name}
          type="radio"
          isOn={value === option.value}
          onChange={() => onChange(option.value)}
        />
      ))}
    </fieldset>
  );
}
