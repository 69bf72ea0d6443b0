import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n';
import { Button } from './controls';

/** How far long work is. It continues when the screen is left. */
export function Progress({
  done,
  all,
  children,
  onClose,
}: {
  done: number;
  all: number;
  children: ReactNode;
  onClose: () => void;
}) {
  const { states } = useTexts();
  return (
    <div
      role="status"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-n5 bg-n2 px-4 py-1.5"
    >
      <progress aria-hidden value={done} max={Math.max(all, 1)} className="h-1.5 w-40 max-w-full" />
      <span className="tabular-nums">{children}</span>
      <Button look="quiet" icon={X} label={states.close} className="ml-auto" onClick={onClose} />
    </div>
  );
}
