import { BookOpen, Ellipsis, Keyboard, Search } from 'lucide-react';
import { useEffect } from 'react';
import { useThreadCounts } from '../api/queries';
import { useTexts } from '../i18n';
import { Button } from '../parts/controls';
import { Dialog } from '../parts/dialog';
import { Account } from './account';
import { Places } from './places';
import { type Screen, allScreens, sectionsFor } from './screens';
import { useWorkspace } from './workspace';
import { Link } from '../parts/link';

const item = 'flex h-7 w-full items-center gap-2 rounded px-2';

/** The navigation beside the content, on wide screens. */
export function SideNavigation({
  onCommands,
  onKeys,
}: {
  onCommands: () => void;
  onKeys: () => void;
}) {
  const { nav } = useTexts();
  return (
    <nav
      aria-label={nav.main}
      className="hidden w-52 shrink-0 flex-col border-r border-n5 bg-n2 md:flex"
    >
      <div className="p-2 pb-0">
        <Places />
        <Button
          look="quiet"
          icon={Search}
          className="w-full !justify-start text-n11"
          onClick={onCommands}
        >
          {nav.commands}
          <kbd className="ml-auto font-sans text-xs">⌘K</kbd>
        </Button>
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto p-2">
        <SectionLinks />
      </div>
      <div className="space-y-0.5 border-t border-n5 p-2">
        <ReferenceLink />
        <button type="button" onClick={onKeys} className={`${item} text-n11 hover:bg-n4`}>
          <Keyboard aria-hidden size={16} strokeWidth={1.75} />
          {nav.shortcuts}
        </button>
        <Account />
      </div>
    </nav>
  );
}

function SectionLinks({ onOpen }: { onOpen?: () => void }) {
  const { nav } = useTexts();
  const { isAdmin } = useWorkspace();
  return sectionsFor(isAdmin).map(({ name, screens }) => (
    <section key={name} aria-label={nav.sections[name]} className="mb-3 space-y-0.5">
      {name !== 'work' && <h2 className="px-2 pb-0.5 text-xs text-n10">{nav.sections[name]}</h2>}
      {screens.map((screen) => (
        <ScreenLink key={screen.name} screen={screen} onOpen={onOpen} />
      ))}
    </section>
  ));
}

function ScreenLink({
  screen: { link, name, icon: Icon },
  onOpen,
}: {
  screen: Screen;
  onOpen?: () => void;
}) {
  const { nav } = useTexts();
  return (
    <Link
      {...link}
      onClick={onOpen}
      activeOptions={{ exact: name === 'home', includeSearch: false }}
      activeProps={{ className: 'bg-n4 font-medium' }}
      inactiveProps={{ className: 'text-n11 hover:bg-n4' }}
      className={`${item} tap`}
    >
      <Icon aria-hidden size={16} strokeWidth={1.75} />
      {nav[name]}
      {name === 'conversations' && <WaitingCount className="ml-auto" />}
    </Link>
  );
}

function ReferenceLink() {
  const { nav } = useTexts();
  return (
    <a href="/docs" target="_blank" rel="noopener" className={`${item} tap text-n11 hover:bg-n4`}>
      <BookOpen aria-hidden size={16} strokeWidth={1.75} />
      {nav.reference}
    </a>
  );
}

/** How many conversations wait for a person. */
function WaitingCount({ className }: { className: string }) {
  const { nav } = useTexts();
  const { data } = useThreadCounts();
  const waiting = data?.waiting ?? 0;
  if (waiting === 0) return null;
  return (
    <span
      title={nav.waiting}
      className={`rounded bg-waiting-soft px-1.5 text-xs font-medium text-waiting tabular-nums ${className}`}
    >
      {waiting}
      <span className="sr-only"> {nav.waiting}</span>
    </span>
  );
}

/** Shows the same number on the icon of the installed app. */
export function useAppBadge(): void {
  const { data } = useThreadCounts();
  const waiting = data?.waiting;
  useEffect(() => {
    if (waiting === undefined) return;
    const badge = navigator as Navigator & { setAppBadge?(count: number): Promise<void> };
    void badge.setAppBadge?.(waiting).catch(() => undefined);
  }, [waiting]);
}

const tab = 'flex h-14 min-w-0 flex-1 flex-col items-center justify-center gap-0.5 text-xs';

/** The navigation below the content, on phones. */
export function PhoneTabs({ onMore }: { onMore: () => void }) {
  const { nav } = useTexts();
  return (
    <nav
      aria-label={nav.main}
      className="fixed inset-x-0 bottom-0 z-10 flex border-t border-n5 bg-n2 pb-[env(safe-area-inset-bottom)] md:hidden"
    >
      {allScreens
        .filter(({ isTab }) => isTab)
        .map(({ link, name, icon: Icon }) => (
          <Link
            key={name}
            {...link}
            activeOptions={{ exact: name === 'home', includeSearch: false }}
            activeProps={{ className: 'text-accent' }}
            inactiveProps={{ className: 'text-n11' }}
            className={tab}
          >
            <span className="relative">
              <Icon aria-hidden size={20} strokeWidth={1.75} />
              {name === 'conversations' && <WaitingCount className="absolute -top-2 left-3" />}
            </span>
            <span className="max-w-full truncate">
              {name === 'conversations' ? nav.chats : nav[name]}
            </span>
          </Link>
        ))}
      <button type="button" onClick={onMore} className={`${tab} text-n11`}>
        <Ellipsis aria-hidden size={20} strokeWidth={1.75} />
        {nav.more}
      </button>
    </nav>
  );
}

/** Everything that the tabs of the phone do not show. */
export function More({ onClose, onCommands }: { onClose: () => void; onCommands: () => void }) {
  const { nav } = useTexts();
  return (
    <Dialog title={nav.more} onClose={onClose}>
      <Places />
      <Button
        look="quiet"
        icon={Search}
        className="mb-2 w-full !justify-start text-n11"
        onClick={onCommands}
      >
        {nav.commands}
      </Button>
      <SectionLinks onOpen={onClose} />
      <ReferenceLink />
      <Account onOpen={onClose} />
    </Dialog>
  );
}
