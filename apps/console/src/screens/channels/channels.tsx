import { getRouteApi } from '@tanstack/react-router';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { Button } from '../../parts/controls';
import { ListScreen } from '../../parts/list-screen';
import { Empty } from '../../parts/states';
import { ChannelScreen } from './channel';
import { ChannelStatus, numberOf, useChannels } from './channel-parts';
import { ConnectChannel } from './connect-channel';
import { channelsCatalog } from './texts';

const route = getRouteApi('/$organization/$environment/channels');

export function Channels() {
  const { open } = route.useSearch();
  return open === undefined || open === 'new' ? <List /> : <ChannelScreen id={open} />;
}

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
          channel.phoneNumber === null ? (
            <span className="text-n11">{texts.noNumber}</span>
          ) : (
            numberOf(channel)
          ),
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
