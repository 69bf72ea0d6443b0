import type { ResultOf } from '@parley/client/manage';
import { getRouteApi } from '@tanstack/react-router';
import { useTypes } from '../../api/queries';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { Pick } from '../../parts/fields';
import { ListScreen } from '../../parts/list-screen';
import { useWholeList } from '../../parts/pages';
import { Empty } from '../../parts/states';
import { Status } from '../../parts/status';
import { ChannelScreen } from './channel';
import { ConnectChannel } from './connect-channel';
import { channelsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/channels');
export type Channel = ResultOf<'listChannels'>['data'][number];

export function Channels() {
  const { open } = route.useSearch();
  return open === undefined || open === 'new' ? <List /> : <ChannelScreen id={open} />;
}

export function useChannels() {
  const { api, key } = useWorkspace();
  return useWholeList([...key, 'channels'], (signal) => api.listChannels({}, { signal }), 5_000);
}

/** The number as people write it. */
export const numberOf = ({ phoneNumber, id }: Channel): string => (phoneNumber === null ? id : `+${phoneNumber}`);

function List() {
  const texts = useTexts(channelsCatalog);
  const { isAdmin } = useWorkspace();
  const { open, show, close, linkOf } = useOpen();
  const list = useChannels();
  return (
    <>
      <ListScreen
        title={texts.title}
        list={list}
        keyOf={({ id }) => id}
        linkOf={({ id }) => linkOf(id)}
        mainTitle={texts.number}
        main={(channel) => [
          channel.phoneNumber === null ? <span className="text-n11">{texts.noNumber}</span> : numberOf(channel),
          <code className="font-mono">{channel.id}</code>,
        ]}
        columns={[
          { title: texts.answerer, widthRem: 12, cell: ({ agent, router }) => agent ?? router },
          { title: texts.contactType, widthRem: 12, cell: ({ contactType }) => contactType },
          { title: texts.status, widthRem: 14, cell: (channel) => <ChannelStatus of={channel} /> },
        ]}
        side={(channel) => [<ChannelStatus of={channel} />, channel.agent ?? channel.router]}
        empty={
          isAdmin ? (
            <Empty title={texts.emptyTitle} command="npx parley channels connect --agent AGENT">
              {texts.empty}
            </Empty>
          ) : (
            <Empty title={texts.emptyTitle}>{texts.emptyMember}</Empty>
          )
        }
      >
        {isAdmin && (
          <Button look="primary" className="ml-auto" onClick={() => show('new')}>
            {texts.connect}
          </Button>
        )}
      </ListScreen>
      {open === 'new' && isAdmin && <ConnectChannel onClose={close} />}
    </>
  );
}

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
      options={[['', texts.noType], ...(value && !types ? [[value, value] as const] : []), ...options]}
    />
  );
}
