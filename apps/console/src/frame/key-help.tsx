import { useTexts } from '../i18n';
import { Dialog } from '../parts/dialog';

const keys = [
  ['⌘K / Ctrl K', 'palette'],
  ['/', 'search'],
  ['j', 'nextItem'],
  ['k', 'previousItem'],
  ['Enter', 'open'],
  ['Esc', 'back'],
  ['g h · g i · g p · g x · g d · g a · g t · g w', 'go'],
  ['t', 'takeOver'],
  ['r', 'reply'],
  ['e', 'handBack'],
  ['?', 'help'],
] as const;

export function KeyHelp({ onClose }: { onClose: () => void }) {
  const { nav, keys: texts } = useTexts();
  return (
    <Dialog title={nav.shortcuts} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
        {keys.map(([key, name]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="rounded border border-n7 bg-n2 px-1.5 font-mono text-xs">{key}</kbd>
            </dt>
            <dd>{texts[name]}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
