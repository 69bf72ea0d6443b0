import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { people } from '../../api/session';
import { useOnce } from '../../api/use-change';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { fieldsOf } from '../../parts/form-dialog';
import { NewPassword } from '../../parts/new-password';
import { SaveLine } from '../../parts/save-line';
import { accountCatalog } from './texts';

export function ChangePassword() {
  const texts = useTexts(accountCatalog);
  const cache = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: useOnce(({ currentPassword, newPassword }: Record<string, string>) =>
      people.changePassword({ currentPassword: currentPassword!, newPassword: newPassword! }),
    ),
    onSuccess: () => {
      form.current?.reset();
      return cache.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  return (
    <form
      ref={form}
      onSubmit={(event) => change.mutate(fieldsOf(event))}
      className="max-w-md space-y-3"
    >
      <Field
        label={texts.currentPassword}
        name="currentPassword"
        type="password"
        autoComplete="current-password"
        required
        maxLength={200}
      />
      <NewPassword label={texts.newPassword} name="newPassword" />
      <SaveLine
        action={texts.changePassword}
        run={change}
        look="plain"
        done={texts.passwordChanged}
      />
    </form>
  );
}
