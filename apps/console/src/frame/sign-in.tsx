import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Me, endedSession, enter, leave, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button, Field } from '../parts/controls';
import { fieldsOf } from '../parts/form-dialog';
import { Notice, Problem } from '../parts/states';
import { Card } from './card';
import { ForgotPassword } from './forgot-password';
import { KeepSignedIn, keepOf } from './keep-signed-in';
import { useSignInWays } from './sign-in-ways';

/** A button that is as wide as the card, whose text contains a name of any length. */
export const wideButton = 'min-h-8 w-full !h-auto !whitespace-normal';

/** `text`: what signing in at the provider does here. */
export function OidcButton({
  invitation,
  text,
}: {
  invitation?: string;
  text?: (provider: string) => string;
}) {
  const { signIn: texts } = useTexts();
  const { data: ways } = useSignInWays();
  const begin = useMutation({
    mutationFn: () =>
      people.beginOidcSignIn({
        returnTo: location.pathname + location.search,
        ...(invitation && { invitation }),
      }),
    onSuccess: ({ url }) => location.assign(url),
  });
  if (!ways?.oidc) return null;
  return (
    <>
      <Button className={wideButton} isBusy={begin.isPending} onClick={() => begin.mutate()}>
        {(text ?? texts.with)(ways.oidc.name)}
      </Button>
      <Problem error={begin.error} />
      <p className="my-3 text-center text-n10">{texts.or}</p>
    </>
  );
}

/** A person who is signed in came back from the provider without success. */
export function SignInFailed({ code }: { code: string }) {
  const { signIn: texts, join } = useTexts();
  const navigate = useNavigate();
  return (
    <Card title={texts.title}>
      <div className="mb-4">
        <Notice kind="failed">{texts.failed(code)}</Notice>
      </div>
      <Button onClick={() => navigate({ to: '/', search: {}, replace: true })}>
        {join.toConsole}
      </Button>
    </Card>
  );
}

/** `reason`: what the person signs in for. */
export function SignIn({ me, reason }: { me: Me | null; reason?: string }) {
  const { signIn: texts, reset } = useTexts();
  const [isForgotten, setForgotten] = useState(false);
  const failure = new URLSearchParams(location.search).get('error');
  const signIn = useMutation({
    mutationFn: useOnce(async (fields: Record<string, string>) => {
      const { email = '', password = '' } = fields;
      const { person } = await people.signIn({ email, password, ...keepOf(fields) });
      await enter(person.id);
    }),
  });
  if (me !== null)
    return (
      <Card title={me.person.name ?? me.person.email ?? ''}>
        <p className="mb-4 text-n11">{texts.noOrganization}</p>
        <Button onClick={leave}>{texts.signOut}</Button>
      </Card>
    );
  if (isForgotten)
    return (
      <Card title={reset.title}>
        <ForgotPassword onBack={() => setForgotten(false)} />
      </Card>
    );
  return (
    <Card title={texts.title}>
      <div className="mb-3 space-y-2 empty:hidden">
        {endedSession.is && <Notice>{texts.ended}</Notice>}
        {reason !== undefined && <Notice kind="person">{reason}</Notice>}
        {failure !== null && <Notice kind="failed">{texts.failed(failure)}</Notice>}
      </div>
      <OidcButton />
      <form className="space-y-3" onSubmit={(event) => signIn.mutate(fieldsOf(event))}>
        <Field
          label={texts.email}
          name="email"
          type="email"
          autoComplete="username"
          required
          autoFocus
        />
        <Field
          label={texts.password}
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={200}
        />
        <KeepSignedIn />
        <Problem error={signIn.error} />
        <Button type="submit" look="primary" className="w-full" isBusy={signIn.isPending}>
          {texts.submit}
        </Button>
      </form>
      <Button look="quiet" className="mt-3 w-full text-n11" onClick={() => setForgotten(true)}>
        {reset.forgot}
      </Button>
    </Card>
  );
}
