import type { JsonObject } from '@parley/client';
import { type TextareaHTMLAttributes, useId } from 'react';

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
  ...rest
}: TextareaHTMLAttributes<HTMLTextAreaElement> & { label: string; error?: string; hint?: string }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-n11">
        {label}
      </label>
      <textarea
        id={id}
        spellCheck={false}
        autoCapitalize="off"
        aria-invalid={error !== undefined}
        aria-describedby={error || hint ? `${id}-hint` : undefined}
        {...rest}
        className="w-full rounded border border-n8 bg-n1 p-2 font-mono text-xs leading-relaxed"
      />
      {(error ?? hint) && (
        <p id={`${id}-hint`} className={`mt-1 text-xs ${error ? 'text-failed' : 'text-n10'}`}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}
