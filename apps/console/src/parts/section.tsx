import type { ReactNode } from 'react';

/** A part of a screen with a heading, and what it is for. */
export function Section({
  title,
  hint,
  children,
}: {
  title: string;
  hint?: string;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="min-w-0">
      <h2 className="font-medium">{title}</h2>
      {hint && <p className="text-n10">{hint}</p>}
      <div className="mt-2">{children}</div>
    </section>
  );
}
