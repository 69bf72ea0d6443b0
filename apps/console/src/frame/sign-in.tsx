import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type Me, endedSession, enter, leave, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { KeepSignedIn, keepOf } from './keep-signed-in';
import { type Language, languageName, languages, setLanguage, useLanguage, useTexts } from '../i18n';
import { Button, Choice, Field } from '../parts/controls';
import { fieldsOf } from '../parts/form-dialog';
import { Notice, Problem } from '../parts/states';

/** The page around sign-in and invitations. */
export function Card({ title, children }: { title: string; children: ReactNode }) {
  const { nav } = useTexts();
  const language = useLanguage();
  return (
    <main className="flex min-h-full flex-col items-center justify-center bg-n2 p-4">
      <div className="w-full max-w-sm rounded border border-n6 bg-n1 p-6">
        <h1 className="mb-4 text-xl font-semibold">{title}</h1>
        {children}
      </div>
      <Choice
        className="mt-4 !border-transparent !bg-transparent text-n11"
        label={nav.languageLabel}
        value={language}
        onChange={(event) => setLanguage(event.target.value as Language)}
        options={languages.map((one) => [one, languageName(one)] as const)}
      />
    </main>
  );
}

export function OidcButton({ invitation }: { invitation?: string }) {
  const { signIn: texts } = useTexts();
  const { data: ways } = useQuery({ queryKey: ['ways'], queryFn: () => people.getSignInWays(), staleTime: Infinity });
  const begin = useMutation({
    mutationFn: () =>
      people.beginOidcSignIn({ returnTo: location.pathname + location.search, ...(invitation && { invitation }) }),
    onSuccess: ({ url }) => location.assign(url),
  });
  if (!ways?.oidc) return null;
  return (
    <>
      <Button className="w-full" isBusy={begin.isPending} onClick={() => begin.mutate()}>
        {texts.with(ways.oidc.name)}
      </Button>
      <Problem error={begin.error} />
      <p className="my-3 text-center text-n10">{texts.or}</p>
    </>
  );
}

export function SignIn({ me }: { me: Me | null }) {
  const { signIn: texts } = useTexts();
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
  return (
    <Card title={texts.title}>
      <div className="mb-3 space-y-2 empty:hidden">
        {endedSession.is && <Notice>{texts.ended}</Notice>}
        {failure !== null && <Notice kind="failed">{texts.failed(failure)}</Notice>}
      </div>
      <OidcButton />
      <form className="space-y-3" onSubmit={(event) => signIn.mutate(fieldsOf(event))}>
        <Field label={texts.email} name="email" type="email" autoComplete="username" required autoFocus />
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
    </Card>
  );
}
