import type { TextareaHTMLAttributes } from 'react';
import { Labelled, type LabelledProps, boxLook } from './fields';

/** A labelled area for JSON. */
export function JsonField({
  label,
  error,
  hint,
  className,
  ...rest
}: LabelledProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled label={label} error={error} hint={hint} className={className}>
      {(control) => (
        <textarea
          {...control}
          spellCheck={false}
          autoCapitalize="off"
          {...rest}
          className={`block py-1 font-mono text-xs leading-relaxed ${boxLook}`}
        />
      )}
    </Labelled>
  );
}
