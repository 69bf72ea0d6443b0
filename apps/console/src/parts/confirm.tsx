import { type ReactNode, useState } from 'react';
import { useWorkspace } from '../frame/workspace';
import { useTexts } from '../i18n';
import { Field } from './controls';
import { FormDialog } from './form-dialog';

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
export function Confirm({ question, name, run, look = 'danger', ...dialog }: ConfirmProps) {
  const { states } = useTexts();
  const { environment } = useWorkspace();
  const [typed, setTyped] = useState('');
  const isTyped = environment === 'production' && name !== undefined;
  return (
    <FormDialog
      {...dialog}
      look={look}
      run={run}
      isReady={!isTyped || typed.trim() === name}
      onSubmit={() => run.mutate()}
    >
      <div>{question}</div>
      {isTyped && (
        <Field
          label={states.typeName(name)}
          value={typed}
          autoComplete="off"
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
    </FormDialog>
  );
}
