import { type ReactNode, useEffect } from 'react';

/** The head of a screen: its name, and what can be done with the whole. */
export function ScreenHead({
  title,
  before,
  children,
}: {
  title: ReactNode;
  before?: ReactNode;
  children?: ReactNode;
}) {
  const name = typeof title === 'string' ? title : null;
  useEffect(() => {
    if (name !== null) document.title = `${name} · Parley`;
  }, [name]);
  return (
    <header className="flex min-h-12 shrink-0 flex-wrap items-center gap-2 border-b border-n5 px-4 py-2">
      {before}
      <h1 className="mr-2 text-lg font-semibold">{title}</h1>
      {children}
    </header>
  );
}
