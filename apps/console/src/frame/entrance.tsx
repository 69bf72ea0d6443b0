import { useQuery } from '@tanstack/react-query';
import { Navigate, Outlet, useLocation } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../api/session';
import { Failure } from '../parts/states';
import { useTexts } from '../i18n';
import { ConfirmEmail } from './confirm-email';
import { ConfirmIdentity } from './confirm-identity';
import { Join } from './join';
import { ResetPassword } from './reset-password';
import { SignIn, SignInFailed } from './sign-in';
import { lastWorkspace } from './workspace';

/**
 * Shows the screens to people with a session, and to all others the sign-in, at the same address.
 */
export function Entrance() {
  const hash = useLocation({ select: (location) => location.hash });
  const me = useQuery(meQuery);
  const { confirm } = useTexts();
  const [, page, token] = /^\/(join|reset|confirm)\/([\w-]+)$/.exec(hash) ?? [];
  if (me.isPending) return null;
  if (me.data === undefined) return <Failure error={me.error} onRetry={() => me.refetch()} />;
  if (page === 'join') return <Join token={token!} me={me.data} />;
  if (page === 'reset') return <ResetPassword token={token!} />;
  if (page === 'confirm')
    return me.data === null ? (
      <SignIn me={null} reason={confirm.first} />
    ) : (
      <ConfirmEmail token={token!} me={me.data} />
    );
  if (me.data !== null && hash === '/confirm-identity') return <ConfirmIdentity />;
  return me.data === null || me.data.organizations.length === 0 ? (
    <SignIn me={me.data} />
  ) : (
    <Outlet />
  );
}

/** Leads from addresses without an organization to the one that was open last. */
export function Start() {
  const { data: me } = useQuery(meQuery);
  const search = useLocation({ select: (location) => location.searchStr });
  const failure = new URLSearchParams(search).get('error');
  // Shortcuts of the installed app name a screen, and know no organization. Read once, because the
  // navigation changes the address.
  const [screen] = useState(() => new URLSearchParams(search).get('screen'));
  if (!me) return null;
  if (failure !== null) return <SignInFailed code={failure} />;
  const [slug, environment] = lastWorkspace.get()?.split('/') ?? [];
  const organization = me.organizations.find((one) => one.slug === slug) ?? me.organizations[0]!;
  const params = {
    organization: organization.slug,
    environment: environment === 'production' ? environment : 'development',
  };
  if (screen === 'conversations' || screen === 'waiting')
    return (
      <Navigate
        to="/$organization/$environment/conversations"
        params={params}
        search={{ view: screen === 'waiting' ? screen : undefined }}
        replace
      />
    );
  return <Navigate to="/$organization/$environment" params={params} replace />;
}
