import { getRouteApi } from '@tanstack/react-router';
import { useWorkspace } from '../../frame/workspace';
import { formatNumber, useTexts } from '../../i18n';
import { Choice } from '../../parts/controls';
import { linkTo } from '../../parts/link';
import { ListScreen } from '../../parts/list-screen';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { emailsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/emails');

export function Emails() {
  const emails = useTexts(emailsCatalog);
  const { api, key } = useWorkspace();
  const { status } = route.useSearch();
  const navigate = route.useNavigate();
  const filter = (chosen: string | undefined) =>
    void navigate({ search: { status: chosen }, replace: true });
  const list = usePages(
    [...key, 'emails', status],
    (cursor, signal) => api.listEmails({ status, cursor }, { signal }),
    { refetchInterval: 5_000 },
  );
  return (
    <ListScreen
      title={emails.title}
      list={list}
      keyOf={({ id }) => id}
      linkOf={({ id }) => linkTo({ to: 'emails/$emailId', params: { emailId: id } })}
      mainTitle={emails.subject}
      main={({ subject, to, error }) => [
        subject || emails.noSubject,
        <>
          {to.join(', ')}
          {error && <span className="text-failed"> · {error}</span>}
        </>,
      ]}
      columns={[
        {
          title: emails.status,
          widthRem: 10,
          cell: ({ status: one }) => <EmailStatus status={one} />,
        },
        {
          title: emails.attempts,
          widthRem: 6,
          isNumber: true,
          cell: ({ attempts }) => formatNumber(attempts),
        },
        {
          title: emails.created,
          widthRem: 7,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [<EmailStatus status={item.status} />, <Ago at={item.createdAt} />]}
      onClear={status === undefined ? undefined : () => filter(undefined)}
      empty={
        <Empty
          title={emails.empty}
          command={`npx parley run-tool email.send '{"to":"ana@example.com","subject":"Hello","text":"Hello"}'`}
        >
          {emails.emptyText}
        </Empty>
      }
    >
      <Choice
        label={emails.status}
        value={status ?? ''}
        onChange={({ target }) => filter(target.value || undefined)}
        options={[['', emails.anyStatus], ...Object.entries(emails.statuses)]}
      />
    </ListScreen>
  );
}

export function EmailStatus({ status }: { status: string }) {
  const emails = useTexts(emailsCatalog);
  return (
    <Status
      status={status}
      text={emails.statuses[status as keyof typeof emails.statuses] ?? status}
    />
  );
}
