import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { BookOpen, Keyboard, Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useThreadCounts } from '../api/queries';
import { useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Empty } from '../parts/states';
import { Account } from './account';
import { Commands } from './commands';
import { ConnectionLine } from './connection-line';
import { KeyHelp } from './key-help';
import { startKeySequences, useKeys } from './keys';
import { Places } from './places';
import { screens } from './screens';
import { lastWorkspace, useKnownWorkspace, usePlace, useWorkspace } from './workspace';

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
  const place = usePlace();
  const navigate = useNavigate();
  const { nav } = useTexts();
  const [shown, show] = useState<'commands' | 'keys' | null>(null);
  useEffect(() => lastWorkspace.set(`${organization.slug}/${environment}`), [organization.slug, environment]);
  useEffect(startKeySequences, []);
  useKeys({
    'mod+k': () => show('commands'),
    '?': () => show('keys'),
    ...Object.fromEntries(screens.map(({ key, to }) => [key, () => void navigate({ to, params: place, search: {} })])),
  });
  const isProduction = environment === 'production';
  return (
    <div className="flex h-dvh flex-col">
      <a href="#content" className="sr-only z-20 rounded bg-n1 p-2 focus:not-sr-only focus:absolute">
        {nav.skip}
      </a>
      {isProduction && <div className="h-1 shrink-0 bg-waiting" />}
      <ConnectionLine />
      <div className="flex min-h-0 flex-1">
        <nav
          aria-label={nav.main}
          className="hidden w-52 shrink-0 flex-col gap-0.5 border-r border-n5 bg-n2 p-2 md:flex"
        >
          <Places />
          <Button look="quiet" icon={Search} className="mb-1 !justify-start text-n11" onClick={() => show('commands')}>
            {nav.commands}
            <kbd className="ml-auto font-sans text-xs">⌘K</kbd>
          </Button>
          {screens.map((screen) => (
            <ScreenLink key={screen.name} screen={screen} />
          ))}
          <div className="mt-auto space-y-0.5">
            <a
              href="/docs"
              target="_blank"
              rel="noopener"
              className="flex h-8 items-center gap-2 rounded px-2 text-n11 hover:bg-n4"
            >
              <BookOpen aria-hidden size={16} strokeWidth={1.75} />
              {nav.reference}
            </a>
            <button
              type="button"
              onClick={() => show('keys')}
              className="flex h-8 w-full items-center gap-2 rounded px-2 text-n11 hover:bg-n4"
            >
              <Keyboard aria-hidden size={16} strokeWidth={1.75} />
              {nav.keys}
            </button>
            <Account />
          </div>
        </nav>
        <main id="content" tabIndex={-1} className="min-w-0 flex-1 overflow-hidden pb-14 outline-none md:pb-0">
          <Outlet />
        </main>
      </div>
      <PhoneTabs onMore={() => show('commands')} />
      {shown === 'commands' && <Commands onClose={() => show(null)} />}
      {shown === 'keys' && <KeyHelp onClose={() => show(null)} />}
    </div>
  );
}

function ScreenLink({ screen: { to, name, icon: Icon } }: { screen: (typeof screens)[number] }) {
  const { nav } = useTexts();
  return (
    <Link
      to={to}
      params={usePlace()}
      search={{}}
      activeOptions={{ exact: name === 'home', includeSearch: false }}
      activeProps={{ className: 'bg-n4 font-medium' }}
      inactiveProps={{ className: 'text-n11 hover:bg-n4' }}
      className="flex h-8 items-center gap-2 rounded px-2"
    >
      <Icon aria-hidden size={16} strokeWidth={1.75} />
      {nav[name]}
      {name === 'conversations' && <WaitingCount />}
    </Link>
  );
}

/** How many conversations wait for a person, as on the app's icon. */
function WaitingCount() {
  const { home } = useTexts();
  const { data } = useThreadCounts();
  const waiting = data?.waiting ?? 0;
  useEffect(() => {
    const badge = navigator as Navigator & { setAppBadge?(count: number): Promise<void> };
    void badge.setAppBadge?.(waiting).catch(() => undefined);
  }, [waiting]);
  if (waiting === 0) return null;
  return (
    <span title={home.waiting} className="ml-auto rounded bg-waiting-soft px-1.5 text-xs font-medium text-waiting">
      {waiting}
      <span className="sr-only"> {home.waiting}</span>
    </span>
  );
}

function PhoneTabs({ onMore }: { onMore: () => void }) {
  const { nav } = useTexts();
  const place = usePlace();
  return (
    <nav
      aria-label={nav.main}
      className="fixed inset-x-0 bottom-0 z-10 flex border-t border-n5 bg-n2 pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {screens.map(({ to, name, icon: Icon }) => (
        <Link
          key={name}
          to={to}
          params={place}
          search={{}}
          activeOptions={{ exact: name === 'home', includeSearch: false }}
          activeProps={{ className: 'text-accent' }}
          inactiveProps={{ className: 'text-n11' }}
          className="flex h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-xs"
        >
          <Icon aria-hidden size={20} strokeWidth={1.75} />
          <span className="max-w-full truncate">{name === 'conversations' ? nav.chats : nav[name]}</span>
        </Link>
      ))}
      <button
        type="button"
        onClick={onMore}
        className="flex h-14 flex-1 flex-col items-center justify-center gap-0.5 text-xs text-n11"
      >
        <Search aria-hidden size={20} strokeWidth={1.75} />
        {nav.more}
      </button>
    </nav>
  );
}
