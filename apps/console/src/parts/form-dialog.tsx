import type { FormEvent, ReactNode } from 'react';
import { useTexts } from '../i18n';
import { Button } from './controls';
import { Dialog } from './dialog';
import { Problem } from './states';

interface FormDialogProps {
  title: string;
  /** The verb and its object. */
  action: string;
  look?: 'primary' | 'danger';
  isReady?: boolean;
  /**
   * The change that the form makes, or why it makes none. The owner closes the dialog when
   * it has succeeded.
   */
  run?: { isPending?: boolean; error: unknown };
  onSubmit: (fields: Record<string, string>) => void;
  onClose: () => void;
  wide?: boolean;
  children: ReactNode;
}

/** The fields of a form by name. */
export const fieldsOf = (event: FormEvent<HTMLFormElement>): Record<string, string> => {
  event.preventDefault();
  return Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>;
};

/** A dialog with a form, its problem, and the buttons to send it or leave. */
export function FormDialog({ look = 'primary', isReady = true, ...props }: FormDialogProps) {
  const { title, action, run, onSubmit, onClose, wide, children } = props;
  const isBusy = run?.isPending === true;
  const { states } = useTexts();
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <form
        onSubmit={(event) => {
          const fields = fieldsOf(event);
          if (isReady && !isBusy) onSubmit(fields);
        }}
        className="space-y-4"
      >
        {children}
        <Problem error={run?.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          <Button type="submit" look={look} isBusy={isBusy} disabled={!isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
