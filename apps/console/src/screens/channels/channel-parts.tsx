import type { ResultOf } from '@parley/client/manage';
import { useTypes } from '../../api/queries';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Pick } from '../../parts/fields';
import { useWholeList } from '../../parts/pages';
import { Status } from '../../parts/status';
import { channelsCatalog } from './texts';

export type Channel = ResultOf<'listChannels'>['data'][number];

export function useChannels() {
  const { api, key } = useWorkspace();
  return useWholeList([...key, 'channels'], (signal) => api.listChannels({}, { signal }), 5_000);
}

/** The number as people write it. */
export const numberOf = ({ phoneNumber, id }: Channel): string =>
  phoneNumber === null ? id : `+${phoneNumber}`;

export function ChannelStatus({ of: { status, webhookProblem } }: { of: Channel }) {
  const { statuses } = useTexts(channelsCatalog);
  return webhookProblem ? (
    <Status status="stalled" text={statuses.problem} />
  ) : (
    <Status status={status} text={statuses[status]} />
  );
}

/** The entity type that says who a contact is. */
export function ContactTypePick({ value }: { value?: string | null }) {
  const texts = useTexts(channelsCatalog);
  const { data: types } = useTypes();
  const options = (types?.data ?? []).map(({ slug, name }) => [slug, `${name} (${slug})`] as const);
  return (
    <Pick
      label={texts.contactType}
      hint={texts.contactTypeHint}
      name="contactType"
      defaultValue={value ?? ''}
      options={[
        ['', texts.noType],
        ...(value && !types ? [[value, value] as const] : []),
        ...options,
      ]}
    />
  );
}
