import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { meQuery, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button, Field } from '../parts/controls';
import { fieldsOf } from '../parts/form-dialog';
import { NewPassword } from '../parts/new-password';
import { Problem, Skeleton } from '../parts/states';
import { Card, LinkEnded } from './card';
import { useLeaveLink } from './use-leave-link';

/** The page of a link that sets a new password. Its token is behind `#`, so it is in no log. */
export function ResetPassword({ token }: { token: string }) {
  const { reset: texts, signIn, join } = useTexts();
  const cache = useQueryClient();
  const leaveLink = useLeaveLink();
  const link = useQuery({
    queryKey: ['password-reset', token],
    queryFn: () => people.showPasswordReset({ token }),
    retry: false,
    staleTime: Infinity,
  });
  const complete = useMutation({
    mutationFn: useOnce(({ password = '', email }: Record<string, string>) =>
      people.completePasswordReset({
        token,
        password,
        ...(link.data!.email === null && { email }),
      }),
    ),
    // All sessions have ended, also one of this browser.
    onSuccess: () => cache.invalidateQueries(meQuery),
  });
  if (link.isPending)
    return (
      <Card title="">
        <Skeleton rows={3} />
      </Card>
    );
  if (link.error) return <LinkEnded text={texts.ended} action={join.toSignIn} />;
  if (complete.isSuccess)
    return (
      <Card title={texts.title}>
        <p role="status" className="mb-4">
          {texts.done}
        </p>
        <Button look="primary" className="w-full" onClick={leaveLink}>
          {join.toSignIn}
        </Button>
      </Card>
    );
  const { email } = link.data;
  return (
    <Card title={texts.title}>
      <form className="space-y-3" onSubmit={(event) => complete.mutate(fieldsOf(event))}>
        <Field
          label={signIn.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          readOnly={email !== null}
          defaultValue={email ?? ''}
        />
        <NewPassword label={texts.newPassword} name="password" />
        <p className="text-n11">{texts.endsSessions}</p>
        <Problem error={complete.error} />
        <Button type="submit" look="primary" className="w-full" isBusy={complete.isPending}>
          {texts.submit}
        </Button>
      </form>
    </Card>
  );
}
