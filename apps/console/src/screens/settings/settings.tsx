import { useQuery } from '@tanstack/react-query';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { ScreenHead } from '../../parts/screen-head';
import { Section } from '../../parts/section';
import { Failure, Skeleton } from '../../parts/states';
import { ConversationSettings } from './conversation-settings';
import { GeneralSettings } from './general-settings';
import type { Organization } from './hours';
import { ReadSettings } from './read-settings';
import { SearchIndexes } from './search-indexes';
import { settingsCatalog } from './texts';

export function SettingsScreen() {
  const texts = useTexts(settingsCatalog);
  const { api, key } = useWorkspace();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...key, 'organization'],
    queryFn: ({ signal }) => api.getOrganization({}, { signal }),
    // The forms begin with what is stored now.
    gcTime: 0,
  });
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={texts.title}>
        <span className="text-n10">{texts.both}</span>
      </ScreenHead>
      <div className="min-h-0 flex-1 overflow-auto">
        {isPending ? (
          <Skeleton />
        ) : data === undefined ? (
          <Failure error={error} onRetry={refetch} />
        ) : (
          <Sections organization={data} />
        )}
      </div>
    </div>
  );
}

function Sections({ organization }: { organization: Organization }) {
  const texts = useTexts(settingsCatalog);
  const { isAdmin } = useWorkspace();
  const { slug, id, externalId } = organization;
  return (
    <div className="max-w-2xl space-y-8 p-4 md:p-6">
      <Section title={texts.general} hint={texts.readOnly}>
        <Facts
          facts={[
            [texts.slug, <CopyText text={slug} />],
            [texts.id, <CopyText text={id} />],
            [texts.externalId, externalId && <CopyText text={externalId} />],
          ]}
        />
        {isAdmin && <GeneralSettings organization={organization} />}
      </Section>
      {isAdmin ? (
        <Section title={texts.people} hint={texts.peopleHint}>
          <ConversationSettings organization={organization} />
        </Section>
      ) : (
        <ReadSettings organization={organization} />
      )}
      <Section title={texts.search} hint={texts.searchHint}>
        <SearchIndexes />
      </Section>
    </div>
  );
}
