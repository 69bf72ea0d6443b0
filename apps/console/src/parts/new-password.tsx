import { useTexts } from '../i18n';
import { Field } from './controls';

/** The field of a password that is chosen: its lengths are those that the API accepts. */
export function NewPassword({ label, name }: { label: string; name: string }) {
  const { join } = useTexts();
  return (
    <Field
      label={label}
      name={name}
      type="password"
      autoComplete="new-password"
      hint={join.passwordHint}
      required
      minLength={10}
      maxLength={200}
    />
  );
}
