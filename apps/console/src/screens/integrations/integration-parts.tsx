import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { useWholeList } from '../../parts/pages';
import { Status } from '../../parts/status';
import type { Integration } from './providers';
import { integrationsCatalog } from './texts';

export function useIntegrations() {
  const { api, key } = useWorkspace();
  return useWholeList(
    [...key, 'integrations'],
    (signal) => api.listIntegrations({}, { signal }),
    10_000,
  );
}

export function IntegrationStatus({
  of: { isConfigured, isReadable, enabled },
}: {
  of: Integration;
}) {
  const { statuses } = useTexts(integrationsCatalog);
  if (!isConfigured) return <Status status="" text={statuses.unset} />;
  if (!isReadable) return <Status status="stalled" text={statuses.unreadable} />;
  return enabled ? (
    <Status status="active" text={statuses.on} />
  ) : (
    <Status status="off" text={statuses.off} />
  );
}
