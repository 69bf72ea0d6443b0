import { type LucideIcon, Check, Copy } from 'lucide-react';
import {
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  useState,
} from 'react';
import { useTexts } from '../i18n';
import { Labelled, type LabelledProps, boxLook } from './fields';

const looks = {
  primary: 'bg-accent text-on-accent font-medium hover:brightness-110 border border-transparent',
  plain: 'border border-n7 bg-n1 hover:bg-n3',
  quiet: 'border border-transparent hover:bg-n4',
  danger: 'border border-failed text-failed hover:bg-failed-soft',
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: keyof typeof looks;
  icon?: LucideIcon;
  /** The name of a button that shows only its icon. */
  label?: string;
  isBusy?: boolean;
}

let lastClicked: EventTarget | null = null;

export function Button({
  look = 'plain',
  icon: Icon,
  label,
  isBusy,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      // A disabled button would lose the focus.
      aria-disabled={isBusy || rest['aria-disabled']}
      {...rest}
      onClick={(event) => {
        // The second click of a double click would do the same again.
        const isRepeated = event.detail > 1 && lastClicked === event.currentTarget;
        lastClicked = event.currentTarget;
        if (isBusy || isRepeated) event.preventDefault();
        else rest.onClick?.(event);
      }}
      className={`tap inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded whitespace-nowrap ${children ? 'px-2.5' : 'w-8'} ${looks[look]} disabled:cursor-default disabled:opacity-50 aria-disabled:cursor-default aria-disabled:opacity-60 ${className}`}
    >
      {Icon && <Icon aria-hidden size={16} strokeWidth={1.75} />}
      {children}
    </button>
  );
}

/** A labelled input; `error` is announced and connected with it. */
export function Field({
  label,
  hint,
  error,
  className,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & LabelledProps) {
  return (
    <Labelled label={label} hint={hint} error={error} className={className}>
      {(control) => <input {...control} {...rest} className={`tap h-8 ${boxLook}`} />}
    </Labelled>
  );
}

/** A select of the browser, which needs no script for its list, its keys and the phone. */
export function Choice({
  label,
  options,
  className = '',
  ...rest
}: SelectHTMLAttributes<HTMLSelectElement> & {
  label: string;
  options: readonly (readonly [value: string, text: string])[];
}) {
  return (
    <select
      aria-label={label}
      title={label}
      {...rest}
      className={`tap h-8 max-w-full shrink-0 truncate rounded border border-n7 bg-n1 pr-5 pl-1.5 ${className}`}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function Toggle({
  label,
  isOn,
  onChange,
}: {
  label: string;
  isOn: boolean;
  onChange: (isOn: boolean) => void;
}) {
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => onChange(!isOn)}
      className={`tap h-8 shrink-0 rounded border px-2 whitespace-nowrap ${isOn ? 'border-accent bg-accent-soft text-accent' : 'border-n7 hover:bg-n3'}`}
    >
      {label}
    </button>
  );
}

/** The look of a link or a button that shows one of several views. */
export const tabLook = (isCurrent: boolean): string =>
  `tap inline-flex h-8 shrink-0 items-center gap-1 rounded px-2 whitespace-nowrap ${isCurrent ? 'bg-n4 font-medium' : 'text-n11 hover:bg-n3'}`;

/** A link that leads to another screen and looks as a button. */
export const linkLook =
  'tap inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded border border-n7 bg-n1 px-2.5 whitespace-nowrap hover:bg-n3';

/** Copies a text, and says for a moment that it is copied. */
export function useCopy(text: string): [isCopied: boolean, copy: () => Promise<void>] {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text).catch(() => undefined);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return [isCopied, copy];
}

/** A text that a click copies, such as an id. */
export function CopyText({ text, children }: { text: string; children?: ReactNode }) {
  const { states } = useTexts();
  const [isCopied, copy] = useCopy(text);
  const Icon = isCopied ? Check : Copy;
  return (
    <button
      type="button"
      onClick={copy}
      title={`${states.copy}: ${text}`}
      className="group inline-flex max-w-full items-center gap-1 rounded text-left hover:bg-n3"
    >
      {children ?? <code className="truncate font-mono text-xs">{text}</code>}
      <Icon
        aria-hidden
        size={12}
        className={`shrink-0 ${isCopied ? 'text-done' : 'text-n9 group-hover:text-n12'}`}
      />
      <span className="sr-only" aria-live="polite">
        {isCopied ? states.copied : states.copy}
      </span>
    </button>
  );
}
