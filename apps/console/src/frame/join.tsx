import { useMutation, useQuery } from '@tanstack/react-query';
import { type Me, enter, people } from '../api/session';
import { useOnce } from '../api/use-change';
import { useTexts } from '../i18n';
import { Button, Field } from '../parts/controls';
import { fieldsOf } from '../parts/form-dialog';
import { NewPassword } from '../parts/new-password';
import { Problem, Skeleton } from '../parts/states';
import { Card, LinkEnded } from './card';
import { KeepSignedIn, keepOf } from './keep-signed-in';
import { OidcButton, wideButton } from './sign-in';
import { useLeaveLink } from './use-leave-link';
import { lastWorkspace } from './workspace';

/** The page of an invitation's link. Its token is behind `#`, so it is in no log. */
export function Join({ token, me }: { token: string; me: Me | null }) {
  const { join: texts, signIn } = useTexts();
  const leaveLink = useLeaveLink();
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => people.showInvitation({ token }),
    retry: false,
    staleTime: Infinity,
  });
  const accept = useMutation({
    mutationFn: useOnce(async (fields: Record<string, string>) => {
      const { name, email, password } = Object.fromEntries(
        Object.entries(fields).filter(([, value]) => value !== ''),
      );
      const { person } = await people.acceptInvitation({
        token,
        name,
        email,
        password,
        ...keepOf(fields),
      });
      await enter(person.id);
      // The start leads to the organization that was open last.
      lastWorkspace.set(`${invitation.data!.organization.slug}/development`);
      await leaveLink();
    }),
  });
  if (invitation.isPending)
    return (
      <Card title="">
        <Skeleton rows={3} />
      </Card>
    );
  if (invitation.error)
    return me === null ? (
      <LinkEnded text={texts.ended} action={texts.toSignIn} />
    ) : (
      <LinkEnded text={texts.signedIn(nameOf(me))} action={texts.toConsole} />
    );
  const { organization, role, email, isEmailProved } = invitation.data;
  return (
    <Card title={texts.title(organization.name)}>
      <p className="mb-4 text-n11">{role === 'admin' ? texts.asAdmin : texts.asMember}</p>
      {me !== null && <p className="mb-4">{texts.signedIn(nameOf(me))}</p>}
      <OidcButton invitation={token} text={me === null ? signIn.with : texts.withProvider} />
      <form className="space-y-3" onSubmit={(event) => accept.mutate(fieldsOf(event))}>
        {me === null && (
          <>
            <Field label={signIn.name} name="name" autoComplete="name" maxLength={200} />
            <Field
              label={signIn.email}
              name="email"
              type="email"
              autoComplete="username"
              required
              defaultValue={email ?? ''}
              hint={isEmailProved ? texts.emailHint : undefined}
            />
            <NewPassword label={signIn.password} name="password" />
            <KeepSignedIn />
          </>
        )}
        <Problem error={accept.error} />
        <Button type="submit" look="primary" className={wideButton} isBusy={accept.isPending}>
          {texts.submit(organization.name)}
        </Button>
      </form>
    </Card>
  );
}

const nameOf = ({ person }: Me): string => person.name ?? person.email ?? person.id;
