import { type ReactNode, useId } from 'react';

/** A part of a screen with a heading, and what it is for. */
export function Section({ title, hint, children }: { title: string; hint?: string; children: ReactNode }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <h2 id={id} className="font-semibold">
        {title}
      </h2>
      {hint && <p className="text-n10">{hint}</p>}
      <div className="mt-3">{children}</div>
    </section>
  );
}
