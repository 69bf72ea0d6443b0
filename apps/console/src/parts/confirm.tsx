import { type ReactNode, useState } from 'react';
import { useWorkspace } from '../frame/workspace';
import { useTexts } from '../i18n';
import { Button, Field } from './controls';
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

/**
 * Says what a destructive action will do, and asks. The owner closes it when the
 * action has succeeded.
 */
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

interface ConfirmButtonProps<Result> extends Pick<
  ConfirmProps,
  'action' | 'question' | 'name' | 'look'
> {
  /** Text of the button. Default: the action. */
  text?: string;
  /** Title of the dialog. Default: the action. */
  title?: string;
  /** Default: the look of the action. */
  buttonLook?: 'primary' | 'plain' | 'quiet' | 'danger';
  className?: string;
  /** What `useChange` or `useMutation` returns. */
  change: {
    mutate: (input: void, options: { onSuccess: (result: Result) => void }) => void;
    reset: () => void;
    isPending: boolean;
    error: unknown;
  };
  /** Called when the change was made, after the dialog is closed. */
  onDone?: (result: Result) => void;
}

/** A button that asks before it makes a change. */
export function ConfirmButton<Result>(props: ConfirmButtonProps<Result>) {
  const {
    action,
    text = action,
    title = action,
    look = 'danger',
    buttonLook = look,
    className,
    ...rest
  } = props;
  const { change, onDone, ...dialog } = rest;
  const [isAsked, ask] = useState(false);
  const mutate = () =>
    change.mutate(undefined, {
      onSuccess: (result) => {
        ask(false);
        onDone?.(result);
      },
    });
  return (
    <>
      <Button
        look={buttonLook}
        className={className}
        onClick={() => {
          change.reset();
          ask(true);
        }}
      >
        {text}
      </Button>
      {isAsked && (
        <Confirm
          {...dialog}
          title={title}
          action={action}
          look={look}
          run={{ ...change, mutate }}
          onClose={() => ask(false)}
        />
      )}
    </>
  );
}
