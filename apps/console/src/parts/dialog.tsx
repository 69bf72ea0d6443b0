import { X } from 'lucide-react';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import { useTexts } from '../i18n';
import { Button } from './controls';

/**
 * A modal dialog of the browser: it keeps the focus inside, closes with Escape, and
 * returns the focus.
 */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
  isKept = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Neither a press beside it nor Escape closes it: it shows what is not shown again. */
  isKept?: boolean;
}) {
  const { states } = useTexts();
  const ref = useRef<HTMLDialogElement>(null);
  // Before the dialog leaves the document, so that the browser returns the focus.
  useLayoutEffect(() => {
    const dialog = ref.current!;
    dialog.showModal();
    // On a phone it would open the keyboard over the dialog.
    if (matchMedia('(pointer: fine)').matches)
      dialog
        .querySelector<HTMLElement>('form :is(input, textarea, select):not([readonly])')
        ?.focus();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={ref}
      aria-label={title}
      // A browser closes a dialog with a second Escape although its cancellation is prevented.
      onKeyDown={(event) => isKept && event.key === 'Escape' && event.preventDefault()}
      onCancel={(event) => {
        event.preventDefault();
        if (!isKept) onClose();
      }}
      onMouseDown={(event) =>
        !isKept && event.detail === 1 && event.target === event.currentTarget && onClose()
      }
      className={`w-full ${wide ? 'max-w-2xl' : 'max-w-md'} max-h-[90dvh] overflow-auto rounded border-0 bg-n1 p-0 shadow-float max-sm:m-0 max-sm:mt-auto max-sm:max-w-none`}
    >
      <div className="p-4">
        <div className="mb-3 flex items-center justify-between gap-2">
          <h2 className="text-lg font-semibold">{title}</h2>
          <Button look="quiet" icon={X} label={states.close} onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  );
}
