import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { type Me, meQuery, people } from '../../api/session';
import { useOnce } from '../../api/use-change';
import { useTexts } from '../../i18n';
import { Field } from '../../parts/controls';
import { fieldsOf } from '../../parts/form-dialog';
import { SaveLine } from '../../parts/save-line';
import { accountCatalog } from './texts';

/** Changes the address to sign in with, or sends the e-mail that confirms the present one. */
export function ChangeEmail({ person }: { person: Me['person'] }) {
  const texts = useTexts(accountCatalog);
  const cache = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: useOnce(({ email, emailPassword }: Record<string, string>) =>
      people.changeEmail({ email: email!, password: emailPassword! }),
    ),
    onSuccess: async () => {
      form.current?.reset();
      await cache.invalidateQueries(meQuery);
      await cache.invalidateQueries({ queryKey: ['sessions'] });
    },
  });
  const { isConfirmationSent, person: changed } = change.data ?? {};
  const done = isConfirmationSent
    ? texts.emailSent
    : changed?.isEmailProved
      ? texts.emailKept
      : texts.emailNotSent;
  return (
    <form
      ref={form}
      onSubmit={(event) => change.mutate(fieldsOf(event))}
      className="max-w-md space-y-3"
    >
      <Field
        key={person.email}
        label={texts.email}
        name="email"
        type="email"
        autoComplete="email"
        required
        maxLength={254}
        defaultValue={person.email ?? ''}
      />
      <Field
        label={texts.passwordNow}
        name="emailPassword"
        type="password"
        autoComplete="current-password"
        required
        maxLength={200}
      />
      <SaveLine
        action={person.isEmailProved ? texts.changeEmail : texts.confirmEmail}
        run={change}
        look="plain"
        done={done}
      />
    </form>
  );
}
