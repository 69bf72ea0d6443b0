import { Check, Copy } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTexts } from '../i18n';
import { Button, useCopy } from './controls';
import { Dialog } from './dialog';
import { Notice } from './states';

/** A secret that the server does not show again, with the button that copies it. */
export function ShownOnce({
  label,
  value,
  warning,
}: {
  label: string;
  value: string;
  warning: string;
}) {
  const { states } = useTexts();
  const [isCopied, copy] = useCopy(value);
  return (
    <section aria-label={label} className="space-y-2">
      <Notice>{warning}</Notice>
      <h3 className="text-n11">{label}</h3>
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 flex-1 basis-56 rounded border border-n5 bg-n2 px-2 py-1.5 font-mono text-xs break-all select-all">
          {value}
        </code>
        <Button look="primary" icon={isCopied ? Check : Copy} onClick={copy}>
          <span aria-live="polite">{isCopied ? states.copied : states.copy}</span>
        </Button>
      </div>
    </section>
  );
}

interface ShownOnceDialogProps {
  title: string;
  onClose: () => void;
  wide?: boolean;
  /** Content beside the button that closes the dialog. */
  foot?: ReactNode;
  children: ReactNode;
}

/** A dialog with such a secret, which only its buttons close. */
export function ShownOnceDialog({ foot, children, ...dialog }: ShownOnceDialogProps) {
  const { states } = useTexts();
  return (
    <Dialog {...dialog} isKept>
      <div className="space-y-4">
        {children}
        <div className="flex items-center justify-end gap-4">
          {foot}
          <Button onClick={dialog.onClose}>{states.done}</Button>
        </div>
      </div>
    </Dialog>
  );
}
