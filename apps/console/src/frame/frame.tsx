import { Link, Outlet, useMatch, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTexts } from '../i18n';
import { Empty } from '../parts/states';
import { WorkLines } from '../work/work-line';
import { Commands } from './commands';
import { ConnectionLine } from './connection-line';
import { KeyHelp } from './key-help';
import { startKeys, useKeys } from './keys';
import { More, PhoneTabs, SideNavigation, useAppBadge } from './navigation';
import { allScreens } from './screens';
import { useVisibleHeight } from './use-visible-height';
import { lastWorkspace, useKnownWorkspace, useWorkspace } from './workspace';

const threadRoute = '/$organization/$environment/conversations/$threadId';

export function Frame() {
  const workspace = useKnownWorkspace();
  const { states } = useTexts();
  if (workspace === null)
    return (
      <main>
        <Empty title={states.notFoundTitle}>
          <p>{states.notFound}</p>
          <Link to="/" className="text-accent underline">
            {states.backToList}
          </Link>
        </Empty>
      </main>
    );
  return <Screens key={workspace.key.join()} />;
}

function Screens() {
  const { organization, environment } = useWorkspace();
  const navigate = useNavigate();
  const { nav } = useTexts();
  // An open conversation has the whole screen of a phone, down to the box in which the
  // reply is written.
  const hasTabs = useMatch({ from: threadRoute, shouldThrow: false }) === undefined;
  useVisibleHeight();
  useAppBadge();
  const [shown, show] = useState<'commands' | 'keys' | 'more' | null>(null);
  useEffect(
    () => lastWorkspace.set(`${organization.slug}/${environment}`),
    [organization.slug, environment],
  );
  useEffect(startKeys, []);
  useKeys({
    'mod+k': () => show('commands'),
    '?': () => show('keys'),
    ...Object.fromEntries(
      allScreens.flatMap(({ key, link }) =>
        key === undefined ? [] : [[key, () => void navigate(link)]],
      ),
    ),
  });
  const close = () => show(null);
  return (
    <div className="flex h-[var(--visible-height,100dvh)] flex-col pt-[env(safe-area-inset-top)]">
      <a
        href="#content"
        className="sr-only z-20 rounded bg-n1 p-2 focus:not-sr-only focus:absolute"
      >
        {nav.skip}
      </a>
      {environment === 'production' && <div className="h-1 shrink-0 bg-waiting" />}
      <ConnectionLine />
      <WorkLines />
      <div className="flex min-h-0 flex-1">
        <SideNavigation onCommands={() => show('commands')} onKeys={() => show('keys')} />
        <main
          id="content"
          tabIndex={-1}
          className={`min-w-0 flex-1 overflow-hidden outline-none md:pb-0 ${hasTabs ? 'pb-[calc(3.5rem+env(safe-area-inset-bottom))]' : ''}`}
        >
          <Outlet />
        </main>
      </div>
      {hasTabs && <PhoneTabs onMore={() => show('more')} />}
      {shown === 'commands' && <Commands onClose={close} />}
      {shown === 'keys' && <KeyHelp onClose={close} />}
      {shown === 'more' && <More onClose={close} onCommands={() => show('commands')} />}
    </div>
  );
}
