import type { ReactNode } from 'react';

/** A titled part of the card, with what can be done with it at the right. */
export function CardSection({
  title,
  action,
  children,
}: {
  title: string;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="space-y-1.5">
      <div className="flex items-center justify-between gap-2">
        <h3 className="text-n11">{title}</h3>
        {action}
      </div>
      {children}
    </section>
  );
}
