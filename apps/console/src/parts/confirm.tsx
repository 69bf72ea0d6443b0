import { type FormEvent, type ReactNode, useState } from 'react';
import { useWorkspace } from '../frame/workspace';
import { useTexts } from '../i18n';
import { Button, Field } from './controls';
import { Dialog } from './dialog';
import { Problem } from './states';

interface ConfirmProps {
  title: string;
  /** What will happen, in numbers. */
  question: ReactNode;
  /** The verb and its object. */
  action: string;
  /** In production it is typed before the action, when the action destroys something. */
  name?: string;
  run: { mutate: () => void; isPending: boolean; error: unknown };
  /** Default: it destroys something. */
  look?: 'danger' | 'primary';
  onClose: () => void;
}

/** Says what a destructive action will do, and asks. The owner closes it when the action has succeeded. */
export function Confirm({ title, question, action, name, run, look = 'danger', onClose }: ConfirmProps) {
  const { states } = useTexts();
  const { environment } = useWorkspace();
  const [typed, setTyped] = useState('');
  const isTyped = environment === 'production' && name !== undefined;
  const isReady = !isTyped || typed.trim() === name;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) run.mutate();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={submit} className="space-y-4">
        <div>{question}</div>
        {isTyped && (
          <Field
            label={states.typeName(name)}
            value={typed}
            autoComplete="off"
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        <Problem error={run.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{states.cancel}</Button>
          <Button type="submit" look={look} isBusy={run.isPending} disabled={!isReady}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
