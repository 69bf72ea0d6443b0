import { useState } from 'react';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { Area } from '../../parts/fields';
import { type Organization, type Week, fromWeek, toWeek } from './hours';
import { OpeningHoursEditor } from './opening-hours';
import { SettingsForm, differing } from './save-settings';
import { settingsCatalog } from './texts';

/** Minutes of an input; null for an empty one. */
const minutesOf = (text: string | undefined): number | null =>
  text === undefined || text === '' ? null : Number(text);

export function ConversationSettings({ organization }: { organization: Organization }) {
  const texts = useTexts(settingsCatalog);
  // What the form began with: others may have saved something else since.
  const [{ conversations }, setStored] = useState(organization);
  const { openingHours } = conversations;
  const [week, setWeek] = useState<Week | null>(
    openingHours.length === 0 ? null : toWeek(openingHours),
  );
  const changesOf = (fields: Record<string, string>) => {
    const hours = week === null ? [] : fromWeek(week);
    // The same week can be stored in other entries.
    const isSameWeek = JSON.stringify(fromWeek(toWeek(openingHours))) === JSON.stringify(hours);
    const changed = differing(conversations, {
      openingHours: isSameWeek ? openingHours : hours,
      closedMessage: fields.closedMessage!.trim() || null,
      takeBackAfterMinutes: minutesOf(fields.takeBack),
      notifyAfterMinutes: minutesOf(fields.notify),
      notifyEmails: fields.notifyEmails!.split(/[\s,;]+/).filter((one) => one !== ''),
      phonePauseMinutes: Number(fields.phonePause),
    });
    return Object.keys(changed).length === 0 ? {} : { conversations: changed };
  };
  const minutes = { type: 'number', max: 10_080, step: 1, inputMode: 'numeric' } as const;
  return (
    <SettingsForm changesOf={changesOf} onSaved={setStored}>
      <OpeningHoursEditor week={week} onChange={setWeek} />
      <Area
        label={texts.closedMessage}
        hint={texts.closedMessageHint}
        name="closedMessage"
        maxLength={4_096}
        defaultValue={conversations.closedMessage ?? ''}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          {...minutes}
          label={texts.minutes(texts.takeBack)}
          hint={texts.takeBackHint}
          name="takeBack"
          min={1}
          defaultValue={conversations.takeBackAfterMinutes ?? ''}
        />
        <Field
          {...minutes}
          label={texts.minutes(texts.phonePause)}
          hint={texts.phonePauseHint}
          name="phonePause"
          min={1}
          required
          defaultValue={conversations.phonePauseMinutes}
        />
        <Field
          {...minutes}
          label={texts.minutes(texts.notify)}
          hint={texts.notifyHint}
          name="notify"
          min={0}
          defaultValue={conversations.notifyAfterMinutes ?? ''}
        />
        <Area
          label={texts.notifyEmails}
          hint={texts.notifyEmailsHint}
          name="notifyEmails"
          rows={2}
          defaultValue={conversations.notifyEmails.join('\n')}
        />
      </div>
    </SettingsForm>
  );
}
