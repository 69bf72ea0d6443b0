import type { ResultOf } from '@parley/client/manage';
import { useTexts } from '../../i18n';
import { linkTo } from '../../parts/link';
import { Status } from '../../parts/status';
import { Ago } from '../../parts/time';
import { ViewTabs } from '../../parts/view-tabs';
import { type Ends, keyStatus } from './key-status';
import { keysCatalog } from './texts';

export type ApiKey = ResultOf<'listApiKeys'>['data'][number];
export type PublishableKey = ResultOf<'listPublishableKeys'>['data'][number];

export function KeyTabs({ view }: { view?: 'publishable' }) {
  const texts = useTexts(keysCatalog);
  const to = 'keys';
  return (
    <ViewTabs
      label={texts.title}
      views={[
        [texts.api, linkTo({ to }), view === undefined],
        [texts.publishable, linkTo({ to, search: { view: 'publishable' } }), view !== undefined],
      ]}
    />
  );
}

/** Whether requests with the key are accepted, and since when or until when. */
export function KeyStatus({ of }: { of: Ends }) {
  const { statuses } = useTexts(keysCatalog);
  const { revokedAt, expiresAt = null } = of;
  const status = keyStatus(of);
  const at = revokedAt ?? expiresAt;
  return (
    <span className="inline-flex items-center gap-1">
      <Status status={status} text={statuses[status]} />
      {at !== null && <Ago at={at} className="text-xs text-n10" />}
    </span>
  );
}
