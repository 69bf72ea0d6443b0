import type { ResultOf } from '@parley/client/manage';
import { usePeople } from '../../api/queries';
import { useChange } from '../../api/use-change';
import { useWorkspace } from '../../frame/workspace';
import { formatExact, useTexts } from '../../i18n';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { usePages } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { Invite } from './invite';
import { MemberTabs } from './member-parts';
import { membersCatalog } from './texts';

type Invitation = ResultOf<'listInvitations'>['data'][number];

export function Invitations() {
  const texts = useTexts(membersCatalog);
  const { api, key } = useWorkspace();
  const list = usePages(
    [...key, 'invitations'],
    (cursor, signal) => api.listInvitations({ cursor, limit: 100 }, { signal }),
    { refetchInterval: 10_000 },
  );
  const nameOf = ({ email }: Invitation) => email ?? texts.withoutEmail;
  return (
    <ListWithDialogs
      title={texts.title}
      above={<MemberTabs view="invitations" />}
      list={list}
      keyOf={({ id }) => id}
      mainTitle={texts.invited}
      main={(item) => [nameOf(item), <code className="font-mono">{item.id}</code>]}
      columns={[
        { title: texts.role, widthRem: 8, cell: ({ role }) => texts.roles[role] },
        { title: texts.status, widthRem: 8, cell: (item) => <InvitationStatus of={item} /> },
        {
          title: texts.invitedBy,
          widthRem: 12,
          cell: ({ invitedBy }) => <PersonName id={invitedBy} />,
        },
        {
          title: texts.expires,
          widthRem: 8,
          isNumber: true,
          // A link that was used or revoked has no end that matters.
          cell: ({ status, expiresAt }) =>
            status === 'open' || status === 'expired' ? <Ago at={expiresAt} /> : null,
        },
        {
          title: texts.created,
          widthRem: 8,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={(item) => [<InvitationStatus of={item} />, <Ago at={item.createdAt} />]}
      empty={<Empty title={texts.noInvitationsTitle}>{texts.noInvitations}</Empty>}
      itemTitle={nameOf}
      details={(item) => <InvitationDetails item={item} />}
      add={{ text: texts.invite, dialog: (close) => <Invite onClose={close} /> }}
    />
  );
}

function InvitationStatus({ of: { status } }: { of: Invitation }) {
  const { statuses } = useTexts(membersCatalog);
  return <Status status={status} text={statuses[status]} />;
}

function PersonName({ id }: { id: string | null }) {
  const texts = useTexts(membersCatalog);
  const people = usePeople();
  if (id === null) return <span className="text-n10">{texts.byKey}</span>;
  return <>{people.find((one) => one.id === id)?.name ?? id}</>;
}

function InvitationDetails({ item }: { item: Invitation }) {
  const texts = useTexts(membersCatalog);
  const { api } = useWorkspace();
  const revoke = useChange(() => api.revokeInvitation({ id: item.id }), 'invitations');
  return (
    <div className="space-y-4">
      <Facts
        facts={[
          [texts.id, <CopyText text={item.id} />],
          [texts.status, <InvitationStatus of={item} />],
          [texts.role, texts.roles[item.role]],
          [texts.invitedBy, <PersonName id={item.invitedBy} />],
          [texts.created, formatExact(item.createdAt)],
          [texts.expires, formatExact(item.expiresAt)],
          [texts.accepted, item.acceptedAt !== null && formatExact(item.acceptedAt)],
          [texts.acceptedBy, item.acceptedBy !== null && <PersonName id={item.acceptedBy} />],
        ]}
      />
      <div className="flex flex-wrap items-center gap-2">
        <ChangesLink target={item.id} />
        {item.status === 'open' && (
          <ConfirmButton
            action={texts.revoke}
            question={texts.revokeQuestion}
            className="ml-auto"
            change={revoke}
          />
        )}
      </div>
    </div>
  );
}
