import { type ChangeEvent, useState } from 'react';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { Area, Check, Pick } from '../../parts/fields';
import type { Integration } from './providers';
import { integrationsCatalog } from './texts';

type SettingsField = Integration['fields'][number];

/** What the API takes for `settings`: a value, or null to remove one. */
export type Settings = Record<string, string | Record<string, string> | null>;

const prefixOfClear = 'clear.';

/** The changes of a form with the fields below. A secret that is left empty stays. */
export function settingsOf(
  fields: readonly SettingsField[],
  form: Record<string, string>,
): Settings {
  const settings: Settings = {};
  for (const { name, isSecret, value } of fields) {
    const text = (form[name] ?? '').trim();
    if (form[prefixOfClear + name] !== undefined) settings[name] = null;
    else if (name === 'mediaReply')
      settings[name] = form.mediaReplyKind === 'default' ? null : text;
    else if (text === '') {
      if (!isSecret && value !== null) settings[name] = null;
    } else if (name === 'headers') settings[name] = headersOf(text);
    else if (text !== value) settings[name] = text;
  }
  // A reply that is not set is already the usual one.
  const reply = fields.find(({ name }) => name === 'mediaReply');
  if (reply && settings.mediaReply === reply.value) delete settings.mediaReply;
  return settings;
}

/**
 * Lines such as `X-Team: sales`. A line without a colon is a header without a value, which
 * the server refuses.
 */
const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const [name = '', ...value] = line.split(':');
        return [name.trim(), value.join(':').trim()];
      }),
  );

const shown = (value: SettingsField['value']): string =>
  typeof value === 'string'
    ? value
    : Object.entries(value ?? {})
        .map(([name, masked]) => `${name}: ${masked}`)
        .join(', ');

const isAddress = (name: string): boolean => ['apiUrl', 'baseUrl', 'url'].includes(name);
const originOf = (text: string): string =>
  URL.canParse(text) ? new URL(text).origin : text.trim();

/**
 * The inputs of the fields of a provider. Secrets are write-only. When the host of the address
 * changes, the server requires those that are stored again.
 */
export function SettingsFields({ fields }: { fields: readonly SettingsField[] }) {
  const [isMoved, setMoved] = useState(false);
  return fields.map((field) => {
    const { name, value } = field;
    if (name === 'mediaReply') return <MediaReply key={name} value={value as string | null} />;
    const onChange = isAddress(name)
      ? (text: string) => setMoved(originOf(text) !== originOf(shown(value)))
      : undefined;
    return <SettingsInput key={name} field={field} isMoved={isMoved} onChange={onChange} />;
  });
}

interface SettingsInputProps {
  field: SettingsField;
  /** The address of the provider is being changed. */
  isMoved: boolean;
  onChange: ((text: string) => void) | undefined;
}

function SettingsInput({
  field: { name, isRequired, isSecret, value },
  isMoved,
  onChange,
}: SettingsInputProps) {
  const texts = useTexts(integrationsCatalog);
  const [isCleared, setCleared] = useState(false);
  const own = texts.fields[name] ?? name;
  const isStored = isSecret && value !== null;
  // The API fills the address of Flow in when it is left out.
  const isNeeded = isRequired && name !== 'apiUrl';
  const isWantedAgain = isStored && isMoved;
  const hintOfStored = isWantedAgain ? texts.isSetAgain(shown(value)) : texts.isSet(shown(value));
  const common = {
    name,
    label: isNeeded ? own : texts.optional(own),
    hint: isStored ? hintOfStored : texts.hints[name],
    required: isStored ? isWantedAgain : isNeeded,
    disabled: isCleared,
    autoComplete: 'off',
    spellCheck: false,
  };
  return (
    <div>
      {name === 'headers' ? (
        <Area {...common} />
      ) : (
        <Field
          {...common}
          {...(isSecret
            ? { type: 'password', autoComplete: 'new-password' }
            : {
                defaultValue: shown(value),
                inputMode: /url$/i.test(name) ? ('url' as const) : undefined,
                onChange: ({ target }: ChangeEvent<HTMLInputElement>) => onChange?.(target.value),
              })}
        />
      )}
      {isStored && !isRequired && (
        <Check
          label={texts.clear}
          name={prefixOfClear + name}
          isOn={isCleared}
          onChange={setCleared}
        />
      )}
    </div>
  );
}

function MediaReply({ value }: { value: string | null }) {
  const texts = useTexts(integrationsCatalog);
  const [kind, choose] = useState(value === null ? 'default' : value === '' ? 'none' : 'own');
  return (
    <div className="space-y-3">
      <Pick
        label={texts.optional(texts.fields.mediaReply!)}
        name="mediaReplyKind"
        value={kind}
        onChange={({ target }) => choose(target.value)}
        options={Object.entries(texts.mediaReplies)}
      />
      {kind === 'own' && (
        <Area
          label={texts.mediaText}
          name="mediaReply"
          required
          maxLength={4_096}
          defaultValue={value ?? ''}
        />
      )}
    </div>
  );
}
