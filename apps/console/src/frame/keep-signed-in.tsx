import { useState } from 'react';
import { useTexts } from '../i18n';
import { Check } from '../parts/fields';

const name = 'keepSignedIn';

/** Whether the session stays on this device. On a phone, which one person uses, it is chosen. */
export function KeepSignedIn() {
  const { signIn } = useTexts();
  const [isOn, setOn] = useState(() => matchMedia('(pointer: coarse)').matches);
  return <Check label={signIn.keep} name={name} value="yes" isOn={isOn} onChange={setOn} />;
}

/** The texts of the form. */
export const keepOf = (fields: Record<string, string>): { keepSignedIn?: true } =>
  fields[name] === undefined ? {} : { keepSignedIn: true };
