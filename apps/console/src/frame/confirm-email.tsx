import { ParleyApiError } from '@parley/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Me, leave, meQuery, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Problem } from '../parts/states';
import { Card, LinkEnded } from './card';
import { useLeaveLink } from './use-leave-link';

/**
 * The page of a link that proves the address of the signed-in person, who says so with a button: a
 * program may open links.
 */
export function ConfirmEmail({ token, me: { person } }: { token: string; me: Me }) {
  const { confirm: texts, join, signIn } = useTexts();
  const cache = useQueryClient();
  const leaveLink = useLeaveLink();
  const confirm = useMutation({
    mutationFn: useOnce(() => people.confirmEmail({ token })),
    onSuccess: () => cache.invalidateQueries(meQuery),
  });
  if (confirm.error instanceof ParleyApiError && confirm.error.code === 'link_ended')
    return <LinkEnded text={texts.ended} action={join.toConsole} />;
  return (
    <Card title={texts.title}>
      <p className="mb-4" role={confirm.isSuccess ? 'status' : undefined}>
        {confirm.isSuccess ? texts.done : texts.question(person.email ?? person.id)}
      </p>
      <div className="space-y-3">
        <Problem error={confirm.error} />
        {confirm.isSuccess || confirm.isError ? (
          <Button className="w-full" onClick={leaveLink}>
            {join.toConsole}
          </Button>
        ) : (
          <>
            <Button
              look="primary"
              className="w-full"
              isBusy={confirm.isPending}
              onClick={() => confirm.mutate()}
            >
              {texts.submit}
            </Button>
            <Button className="w-full" onClick={leave}>
              {signIn.signOut}
            </Button>
          </>
        )}
      </div>
    </Card>
  );
}
