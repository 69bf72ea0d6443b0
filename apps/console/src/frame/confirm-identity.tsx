import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ResultOf } from '@parley/client/manage';
import { isLost } from '../api/errors';
import { enter, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Facts } from '../parts/detail-screen';
import { Failure, Notice, Problem, Skeleton } from '../parts/states';
import { Card } from './card';
import { lastWorkspace } from './workspace';

type Question = ResultOf<'getIdentityConfirmation'>;

/** The page to which an unknown identity leads the browser of a person who is signed in. */
export function ConfirmIdentity() {
  const { confirmIdentity: texts, join } = useTexts();
  const leave = useLeave();
  const question = useQuery({
    queryKey: ['identity'],
    queryFn: () => people.getIdentityConfirmation(),
    retry: false,
    staleTime: Infinity,
    gcTime: 0,
  });
  if (question.isPending)
    return (
      <Card title="">
        <Skeleton rows={3} />
      </Card>
    );
  if (isLost(question.error))
    return <Failure error={question.error} onRetry={() => question.refetch()} />;
  if (question.data !== undefined) return <Ask question={question.data} />;
  return (
    <Card title={texts.endedTitle}>
      <p className="mb-4 text-n11">{texts.ended}</p>
      <Button onClick={leave}>{join.toConsole}</Button>
    </Card>
  );
}

function Ask({ question: { id, person, identity, organization, role } }: { question: Question }) {
  const { confirmIdentity: texts } = useTexts();
  const leave = useLeave();
  const confirm = useMutation({
    mutationFn: useOnce(async () => {
      const { returnTo } = await people.confirmIdentity({ id });
      lastWorkspace.set(`${organization.slug}/development`);
      await enter(person.id);
      location.assign(returnTo);
    }),
  });
  const decline = useMutation({ mutationFn: () => people.declineIdentity(), onSuccess: leave });
  return (
    <Card title={texts.title}>
      <p className="mb-4 text-n11">{texts.intro(identity.provider)}</p>
      <Facts
        facts={[
          [texts.account, <Who name={person.name} detail={person.email} unnamed={person.id} />],
          [
            texts.identity,
            <Who name={identity.name} detail={identity.email} unnamed={texts.nameless} />,
          ],
          [texts.provider, <Who name={identity.provider} detail={identity.issuer} />],
          [texts.joins, <Who name={organization.name} detail={texts.roles[role]} />],
        ]}
      />
      <div className="my-4 space-y-2">
        <Notice>{texts.warning}</Notice>
        <Problem error={confirm.error ?? decline.error} />
      </div>
      <div className="space-y-2">
        <Button
          look="primary"
          className="w-full"
          isBusy={confirm.isPending}
          onClick={() => confirm.mutate(undefined)}
        >
          {texts.confirm}
        </Button>
        <Button className="w-full" isBusy={decline.isPending} onClick={() => decline.mutate()}>
          {texts.decline}
        </Button>
      </div>
    </Card>
  );
}

/** A name and what else is known, on two lines. Both may be any text. */
function Who({
  name,
  detail,
  unnamed = null,
}: {
  name: string | null;
  detail: string | null;
  unnamed?: string | null;
}) {
  const first = name ?? detail ?? unnamed;
  return (
    <>
      <bdi className="block">{first}</bdi>
      {detail !== first && <bdi className="block text-n11">{detail}</bdi>}
    </>
  );
}

function useLeave() {
  const navigate = useNavigate();
  return () => navigate({ to: '/', hash: '', replace: true });
}
