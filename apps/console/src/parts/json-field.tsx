import type { JsonObject } from '@parley/client';
import type { TextareaHTMLAttributes } from 'react';
import { Labelled, type LabelledProps, boxLook } from './fields';

/** The JSON object that a person has written; the reason when it is none. */
export function parseObject(text: string): { value: JsonObject } | { problem: string | null } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { value: value as JsonObject }
      : { problem: null };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** A labelled area for JSON. */
export function JsonField({
  label,
  error,
  hint,
  className,
  ...rest
}: LabelledProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Labelled {...{ label, error, hint, className }}>
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
