import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { meQuery } from '../../api/session';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ListWithDialogs } from '../../parts/list-with-dialogs';
import { usePages } from '../../parts/pages';
import { ShownEmail } from '../../parts/shown-email';
import { Empty } from '../../parts/states';
import { Ago } from '../../parts/time';
import { Invitations } from './invitations';
import { Invite } from './invite';
import { MemberDetails } from './member-details';
import { type Member, MemberTabs } from './member-parts';
import { membersCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/members');

export function Members() {
  const { view } = route.useSearch();
  return view === 'invitations' ? <Invitations /> : <People />;
}

function People() {
  const texts = useTexts(membersCatalog);
  const { states } = useTexts();
  const { api, key, organization } = useWorkspace();
  const { data: me } = useQuery(meQuery);
  const list = usePages(
    [...key, 'members', 'pages'],
    (cursor, signal) => api.listMembers({ cursor, limit: 100 }, { signal }),
    { refetchInterval: 10_000 },
  );
  const nameOf = ({ name, email }: Member) => name ?? email ?? texts.noName;
  return (
    <ListWithDialogs
      title={texts.title}
      above={<MemberTabs />}
      list={list}
      keyOf={({ id }) => id}
      mainTitle={texts.person}
      main={(member) => [
        <>
          {nameOf(member)}
          {member.id === me?.person.id && <span className="text-n10"> ({texts.you})</span>}
        </>,
        <ShownEmail of={member} />,
      ]}
      columns={[
        { title: texts.role, widthRem: 8, cell: ({ role }) => texts.roles[role] },
        {
          title: texts.membership,
          widthRem: 12,
          cell: ({ isManaged }) => (
            <span className="text-n11">{isManaged ? texts.managed : texts.notManaged}</span>
          ),
        },
        {
          title: texts.lastSeen,
          widthRem: 8,
          isNumber: true,
          cell: ({ lastSeenAt }) =>
            lastSeenAt === null ? (
              <span className="text-n10">{states.never}</span>
            ) : (
              <Ago at={lastSeenAt} />
            ),
        },
        {
          title: texts.joined,
          widthRem: 8,
          isNumber: true,
          cell: ({ createdAt }) => <Ago at={createdAt} />,
        },
      ]}
      side={({ role, lastSeenAt }) => [
        texts.roles[role],
        lastSeenAt !== null && <Ago at={lastSeenAt} />,
      ]}
      empty={
        <Empty
          title={texts.emptyTitle}
          command={`npx parley members invite --org ${organization.slug}`}
        >
          {texts.empty}
        </Empty>
      }
      itemTitle={nameOf}
      details={(member, close) => (
        <MemberDetails member={member} isSelf={member.id === me?.person.id} onClose={close} />
      )}
      add={{ text: texts.invite, dialog: (close) => <Invite onClose={close} /> }}
    />
  );
}
