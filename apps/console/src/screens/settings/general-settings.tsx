import { useState } from 'react';
import { useLanguage, useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { Pick } from '../../parts/fields';
import { useTick } from '../../parts/time';
import type { Organization } from './hours';
import { SettingsForm, differing } from './save-settings';
import { settingsCatalog } from './texts';

export function GeneralSettings({ organization }: { organization: Organization }) {
  const texts = useTexts(settingsCatalog);
  const language = useLanguage();
  // What the form began with: others may have saved something else since.
  const [{ name, timezone }, setStored] = useState(organization);
  const [zone, choose] = useState(timezone);
  useTick(15_000);
  const zones = [...new Set(['UTC', timezone, ...Intl.supportedValuesOf('timeZone')])].sort();
  const time = new Intl.DateTimeFormat(language, { timeStyle: 'short', timeZone: zone }).format(
    Date.now(),
  );
  return (
    <SettingsForm
      onSaved={setStored}
      changesOf={(fields) =>
        differing({ name, timezone }, { name: fields.name!.trim(), timezone: fields.timezone })
      }
    >
      <div className="grid gap-3 sm:grid-cols-2">
        <Field
          label={texts.name}
          hint={texts.nameHint}
          name="name"
          required
          maxLength={200}
          defaultValue={name}
        />
        <Pick
          label={texts.timezone}
          hint={texts.timezoneHint(time)}
          name="timezone"
          value={zone}
          onChange={({ target }) => choose(target.value)}
          options={zones.map((one) => [one, one.replaceAll('_', ' ')] as const)}
        />
      </div>
    </SettingsForm>
  );
}
