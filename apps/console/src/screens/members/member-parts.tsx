import type { ResultOf } from '@parley/client/manage';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { linkTo } from '../../parts/link';
import { ViewTabs } from '../../parts/view-tabs';
import { membersCatalog } from './texts';

export type Member = ResultOf<'listMembers'>['data'][number];

/** Members see one list only: the server refuses them the other one. */
export function MemberTabs({ view }: { view?: 'invitations' }) {
  const texts = useTexts(membersCatalog);
  const { isAdmin } = useWorkspace();
  const to = 'members';
  if (!isAdmin) return null;
  return (
    <ViewTabs
      label={texts.title}
      views={[
        [texts.people, linkTo({ to }), view === undefined],
        [texts.invitations, linkTo({ to, search: { view: 'invitations' } }), view !== undefined],
      ]}
    />
  );
}
