import type { ResultOf } from '@parley/client/manage';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { people } from '../../api/session';
import { formatExact, useTexts } from '../../i18n';
import { ConfirmButton } from '../../parts/confirm';
import { Failure, Skeleton } from '../../parts/states';
import { Ago } from '../../parts/time';
import { browserOf } from './browser-of';
import { accountCatalog } from './texts';

type Session = ResultOf<'listSessions'>['data'][number];

export function Sessions() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => people.listSessions({}, { signal }),
    refetchInterval: 10_000,
  });
  if (isPending) return <Skeleton rows={3} />;
  if (data === undefined) return <Failure error={error} onRetry={refetch} />;
  return (
    <ul className="divide-y divide-n4 border-y border-n4">
      {data.data.map((session) => (
        <SessionRow key={session.id} session={session} />
      ))}
    </ul>
  );
}

function SessionRow({ session }: { session: Session }) {
  const texts = useTexts(accountCatalog);
  const { states } = useTexts();
  const cache = useQueryClient();
  const { id, isCurrent, address, userAgent, createdAt, lastSeenAt, expiresAt } = session;
  const known = userAgent === null ? null : browserOf(userAgent);
  const browser =
    known === null ? texts.unknownBrowser : texts.browserOn(known.browser, known.system);
  const end = useMutation({
    mutationFn: () => people.endSession({ id }),
    onSettled: () => cache.invalidateQueries({ queryKey: ['sessions'] }),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2.5">
      <div className="min-w-0 flex-1 basis-56">
        <p title={userAgent ?? undefined}>
          {browser}
          {isCurrent && <span className="text-done"> · {texts.thisOne}</span>}
        </p>
        <p className="text-xs text-n10">
          {texts.address} {address ?? states.noValue} · {texts.lastUsed} <Ago at={lastSeenAt} />
        </p>
        <p className="text-xs text-n10">
          {texts.signedIn} <Ago at={createdAt} /> · {texts.ends} {formatExact(expiresAt)}
        </p>
      </div>
      {!isCurrent && (
        <ConfirmButton
          action={texts.end}
          question={texts.endQuestion(browser)}
          buttonLook="plain"
          change={end}
        />
      )}
    </li>
  );
}
