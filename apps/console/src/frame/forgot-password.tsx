import { useMutation } from '@tanstack/react-query';
import { people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button, Field } from '../parts/controls';
import { fieldsOf } from '../parts/form-dialog';
import { Notice, Problem } from '../parts/states';
import { useSignInWays } from './sign-in-ways';

/** Asks for a link that sets a new password. What it says is the same for an unknown address. */
export function ForgotPassword({ onBack }: { onBack: () => void }) {
  const { reset: texts, signIn } = useTexts();
  const { data: ways } = useSignInWays();
  const ask = useMutation({
    mutationFn: useOnce(({ email = '' }: Record<string, string>) =>
      people.requestPasswordReset({ email }),
    ),
  });
  const isOffered = ways?.passwordResetByEmail === true;
  return (
    <div className="space-y-3">
      {ask.isSuccess ? (
        <div role="status">
          <Notice kind="person">{texts.sent}</Notice>
        </div>
      ) : (
        isOffered && (
          <form className="space-y-3" onSubmit={(event) => ask.mutate(fieldsOf(event))}>
            <p className="text-n11">{texts.how}</p>
            <Field
              label={signIn.email}
              name="email"
              type="email"
              autoComplete="username"
              required
              autoFocus
            />
            <Problem error={ask.error} />
            <Button type="submit" look="primary" className="w-full" isBusy={ask.isPending}>
              {texts.send}
            </Button>
          </form>
        )
      )}
      <p className="text-n11">
        {isOffered ? texts.otherwise : texts.noMail}{' '}
        <code className="font-mono text-xs break-words">npx parley members reset-password</code>
      </p>
      <Button className="w-full" onClick={onBack}>
        {texts.back}
      </Button>
    </div>
  );
}
