import { ParleyApiError } from '@parley/client';
import type { InputOf } from '@parley/client/manage';
import { useState } from 'react';
import { useChange } from '../../api/use-change';
import { useOpen } from '../../frame/open';
import { useWorkspace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { AnswererPick, answererOf, useAnswerers } from '../../parts/answerer';
import { Field } from '../../parts/controls';
import { Radios } from '../../parts/fields';
import { FormDialog } from '../../parts/form-dialog';
import { TextLink } from '../../parts/link';
import { ShownOnce, ShownOnceDialog } from '../../parts/shown-once';
import { ContactTypePick } from './channel-parts';
import { channelsCatalog } from './texts';

type Way = 'link' | 'number' | 'simulated';

/**
 * Connects a number that Kapso has, makes a link at which its owner connects one, or simulates
 * one in development.
 */
export function ConnectChannel({ onClose }: { onClose: () => void }) {
  const texts = useTexts(channelsCatalog);
  const { api, environment } = useWorkspace();
  const { show } = useOpen();
  const { options } = useAnswerers();
  const [way, choose] = useState<Way>('link');
  const connect = useChange(async (input: InputOf<'connectChannel'>) => {
    const made = await api.connectChannel(input);
    if (made.setupLink === null) show(made.channel.id);
    return made;
  }, 'channels');
  if (connect.data?.setupLink)
    return (
      <SetupLink link={connect.data.setupLink} onClose={() => show(connect.data.channel.id)} />
    );
  const submit = ({ answerer, contactType, name, phoneNumberId }: Record<string, string>) =>
    connect.mutate({
      ...answererOf(answerer!),
      contactType: contactType || null,
      ...(way === 'link' && name && { name }),
      ...(way === 'number' && { phoneNumberId: phoneNumberId!.trim() }),
      ...(way === 'simulated' && { isSimulated: true }),
    });
  const ways: readonly Way[] =
    environment === 'development' ? ['link', 'number', 'simulated'] : ['link', 'number'];
  return (
    <FormDialog
      title={texts.connectTitle}
      action={texts.connect}
      isReady={options.length > 0}
      run={connect}
      onSubmit={submit}
      onClose={onClose}
    >
      <AnswererPick label={texts.answerer} name="answerer" />
      <Radios
        legend={texts.how}
        name="way"
        value={way}
        options={ways.map((one) => ({
          value: one,
          label: texts.ways[one],
          hint: texts.wayHints[one],
        }))}
        onChange={choose}
      />
      {way === 'link' && (
        <Field
          label={texts.customerName}
          hint={texts.customerNameHint}
          name="name"
          placeholder="Parley"
          maxLength={100}
        />
      )}
      {way === 'number' && (
        <Field
          label={texts.numberId}
          hint={texts.numberIdHint}
          name="phoneNumberId"
          required
          maxLength={64}
          pattern="[A-Za-z0-9_.\-]+"
          autoComplete="off"
        />
      )}
      <ContactTypePick />
      {connect.error instanceof ParleyApiError && connect.error.code === 'not_configured' && (
        <KapsoFirst />
      )}
    </FormDialog>
  );
}

function KapsoFirst() {
  const texts = useTexts(channelsCatalog);
  return (
    <p>
      {texts.needs}{' '}
      <TextLink to="integrations" search={{ open: 'kapso' }}>
        {texts.setUpKapso}
      </TextLink>
    </p>
  );
}

/** The address at which the owner of a number connects it. */
export function SetupLink({ link, onClose }: { link: string; onClose: () => void }) {
  const texts = useTexts(channelsCatalog);
  return (
    <ShownOnceDialog
      title={texts.setupLink}
      onClose={onClose}
      foot={
        <a href={link} target="_blank" rel="noopener noreferrer" className="text-accent underline">
          {texts.openLink}
        </a>
      }
    >
      <ShownOnce label={texts.setupLink} value={link} warning={texts.linkOnce} />
    </ShownOnceDialog>
  );
}
