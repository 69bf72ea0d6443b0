import { useQuery } from '@tanstack/react-query';
import { CircleUser } from 'lucide-react';
import { useState } from 'react';
import { leave, meQuery } from '../api/session';
import { type Language, languageName, languages, setLanguage, useLanguage, useTexts } from '../i18n';
import { Button, Choice } from '../parts/controls';
import { Dialog } from '../parts/dialog';
import { type Theme, chooseTheme, chosenTheme, themes } from '../theme';

export function Account() {
  const { nav } = useTexts();
  const { data: me } = useQuery(meQuery);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="flex h-8 w-full min-w-0 items-center gap-2 rounded px-2 text-n11 hover:bg-n4"
      >
        <CircleUser aria-hidden size={16} strokeWidth={1.75} className="shrink-0" />
        <span className="truncate">{me?.person.name ?? me?.person.email ?? nav.account}</span>
      </button>
      {isOpen && <AccountDialog onClose={() => setOpen(false)} />}
    </>
  );
}

export function AccountDialog({ onClose }: { onClose: () => void }) {
  const { nav, signIn } = useTexts();
  const { data: me } = useQuery(meQuery);
  const language = useLanguage();
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <Dialog title={me?.person.name ?? me?.person.email ?? nav.account} onClose={onClose}>
      <p className="mb-4 text-n11">{me?.person.email}</p>
      <dl className="mb-4 grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        <dt className="text-n11">{nav.languageLabel}</dt>
        <dd>
          <Choice
            label={nav.languageLabel}
            value={language}
            onChange={({ target }) => setLanguage(target.value as Language)}
            options={languages.map((one) => [one, languageName(one)] as const)}
          />
        </dd>
        <dt className="text-n11">{nav.theme}</dt>
        <dd>
          <Choice
            label={nav.theme}
            value={theme}
            onChange={({ target }) => {
              chooseTheme(target.value as Theme);
              setTheme(target.value as Theme);
            }}
            options={themes.map((one) => [one, nav.themes[one]] as const)}
          />
        </dd>
      </dl>
      <Button onClick={leave}>{signIn.signOut}</Button>
    </Dialog>
  );
}
