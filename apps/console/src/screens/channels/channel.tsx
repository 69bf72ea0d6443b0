import { useChange } from '../../api/use-change';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { AnswererPick, answererOf } from '../../parts/answerer';
import { ChangesLink } from '../../parts/changes-link';
import { ConfirmButton } from '../../parts/confirm';
import { Button, CopyText } from '../../parts/controls';
import { DetailScreen, Facts } from '../../parts/detail-screen';
import { fieldsOf } from '../../parts/form-dialog';
import { linkTo } from '../../parts/link';
import { OpenItem } from '../../parts/open-item';
import { SaveLine } from '../../parts/save-line';
import { Section } from '../../parts/section';
import { Notice, Problem } from '../../parts/states';
import {
  type Channel,
  ChannelStatus,
  ContactTypePick,
  numberOf,
  useChannels,
} from './channel-parts';
import { SetupLink } from './connect-channel';
import { Templates } from './templates';
import { channelsCatalog } from './texts';

/** One number: who answers it, its templates, and how to disconnect it. */
export function ChannelScreen({ id }: { id: string }) {
  const texts = useTexts(channelsCatalog);
  const { isAdmin } = useWorkspace();
  const back = linkTo({ to: 'channels' });
  return (
    <OpenItem list={useChannels()} is={(channel) => channel.id === id} back={back}>
      {(channel) => (
        <DetailScreen
          title={numberOf(channel)}
          back={back}
          backTitle={texts.title}
          head={<ChannelStatus of={channel} />}
        >
          <div className="max-w-3xl space-y-8 p-4 md:p-6">
            {isAdmin && channel.webhookProblem && <RegisterAgain channel={channel} />}
            {isAdmin && channel.status === 'pending' && channel.customerId !== null && (
              <NewLink channel={channel} />
            )}
            <Facts
              facts={[
                [texts.id, <CopyText text={channel.id} />],
                [
                  texts.phoneNumberId,
                  channel.phoneNumberId && <CopyText text={channel.phoneNumberId} />,
                ],
                [texts.customerId, channel.customerId && <CopyText text={channel.customerId} />],
                [texts.answerer, !isAdmin && (channel.agent ?? channel.router)],
                [texts.contactType, !isAdmin && channel.contactType],
              ]}
            />
            {isAdmin && <Answerer channel={channel} />}
            {channel.status === 'connected' && <Templates channel={channel} />}
            {isAdmin && <Disconnect channel={channel} />}
          </div>
        </DetailScreen>
      )}
    </OpenItem>
  );
}

function Answerer({ channel }: { channel: Channel }) {
  const texts = useTexts(channelsCatalog);
  const { api } = useWorkspace();
  const change = useChange(
    ({ answerer, contactType }: Record<string, string>) =>
      api.updateChannel({
        id: channel.id,
        ...answererOf(answerer!),
        contactType: contactType || null,
      }),
    'channels',
  );
  return (
    <Section title={texts.answerer} hint={texts.answererHint}>
      <form onSubmit={(event) => change.mutate(fieldsOf(event))} className="max-w-md space-y-3">
        <AnswererPick label={texts.answerer} name="answerer" of={channel} />
        <ContactTypePick value={channel.contactType} />
        <SaveLine action={texts.change} run={change} />
      </form>
    </Section>
  );
}

const answererIn = ({ agent, router }: Channel) =>
  router === null ? { agent: agent! } : { router };

/** Registers the webhook, which connecting the number again does. */
function RegisterAgain({ channel }: { channel: Channel }) {
  const texts = useTexts(channelsCatalog);
  const { api } = useWorkspace();
  const register = useChange(
    () => api.connectChannel({ phoneNumberId: channel.phoneNumberId!, ...answererIn(channel) }),
    'channels',
  );
  return (
    <div className="space-y-2">
      <Notice kind="failed">
        {texts.webhookProblem}
        {channel.phoneNumberId !== null && (
          <Button className="ml-auto" isBusy={register.isPending} onClick={() => register.mutate()}>
            {texts.registerAgain}
          </Button>
        )}
      </Notice>
      <Problem error={register.error} />
    </div>
  );
}

/**
 * A setup link is not kept. The API makes one with a new channel, which takes the place of this one
 * when it is read.
 */
function NewLink({ channel }: { channel: Channel }) {
  const texts = useTexts(channelsCatalog);
  const { api } = useWorkspace();
  const { show } = useOpen();
  const { id, customerId, contactType } = channel;
  const make = useChange(() =>
    api.connectChannel({ ...answererIn(channel), customerId: customerId!, contactType }),
  );
  const replace = useChange(async () => {
    await api.disconnectChannel({ id });
    show(make.data!.channel.id);
  }, 'channels');
  return (
    <div className="space-y-2">
      <Notice>
        {texts.newLinkHint}
        <Button
          className="ml-auto"
          isBusy={make.isPending || replace.isPending}
          onClick={() => make.mutate()}
        >
          {texts.newLink}
        </Button>
      </Notice>
      <Problem error={make.error ?? replace.error} />
      {make.data?.setupLink && !replace.isPending && (
        <SetupLink link={make.data.setupLink} onClose={() => replace.mutate()} />
      )}
    </div>
  );
}

function Disconnect({ channel }: { channel: Channel }) {
  const texts = useTexts(channelsCatalog);
  const { api } = useWorkspace();
  const { close } = useOpen();
  const number = numberOf(channel);
  const disconnect = useChange(async () => {
    await api.disconnectChannel({ id: channel.id });
    close();
  }, 'channels');
  return (
    <Section title={texts.disconnect} hint={texts.disconnectHint}>
      <div className="flex flex-wrap items-center gap-2">
        <ConfirmButton
          action={texts.disconnectTitle}
          question={texts.disconnectQuestion(number)}
          name={number}
          change={disconnect}
        />
        <ChangesLink target={channel.id} />
      </div>
    </Section>
  );
}
