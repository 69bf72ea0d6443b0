import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { leave, meQuery } from '../../api/session';
import {
  type Language,
  languageName,
  languages,
  setLanguage,
  useLanguage,
  useTexts,
} from '../../i18n';
import { Button, CopyText } from '../../parts/controls';
import { Facts } from '../../parts/detail-screen';
import { Pick } from '../../parts/fields';
import { ScreenHead } from '../../parts/screen-head';
import { Section } from '../../parts/section';
import { ShownEmail } from '../../parts/shown-email';
import { type Theme, chooseTheme, chosenTheme, themes } from '../../theme';
import { ChangeEmail } from './change-email';
import { ChangePassword } from './change-password';
import { Sessions } from './sessions';
import { accountCatalog } from './texts';

/** The signed-in person: who it is, how the console looks, the password and the sessions. */
export function AccountScreen() {
  const { nav, signIn } = useTexts();
  const texts = useTexts(accountCatalog);
  const { data: me } = useQuery(meQuery);
  if (!me) return null;
  const { person, organizations } = me;
  return (
    <div className="flex h-full flex-col">
      <ScreenHead title={nav.account}>
        <Button className="ml-auto" onClick={leave} title={texts.signOutHint}>
          {signIn.signOut}
        </Button>
      </ScreenHead>
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="max-w-2xl space-y-8 p-4 md:p-6">
          <Section title={texts.profile}>
            <Facts
              facts={[
                [texts.name, person.name],
                [texts.email, <ShownEmail of={person} />],
                [texts.id, <CopyText text={person.id} />],
                [
                  texts.organizations,
                  organizations.map(({ id, name, role }): ReactNode => (
                    <div key={id}>
                      {name} <span className="text-n10">· {texts.roles[role]}</span>
                    </div>
                  )),
                ],
              ]}
            />
          </Section>
          <Section title={texts.appearance} hint={texts.appearanceHint}>
            <Appearance />
          </Section>
          {person.hasPassword && (
            <Section title={texts.emailTitle} hint={texts.emailHint}>
              <ChangeEmail person={person} />
            </Section>
          )}
          <Section title={texts.password} hint={person.hasPassword ? texts.endsOthers : undefined}>
            {person.hasPassword ? (
              <ChangePassword />
            ) : (
              <p className="text-n11">{texts.noPassword}</p>
            )}
          </Section>
          <Section title={texts.sessions} hint={texts.sessionsHint}>
            <Sessions />
          </Section>
        </div>
      </div>
    </div>
  );
}

function Appearance() {
  const { nav } = useTexts();
  const language = useLanguage();
  const [theme, setTheme] = useState(chosenTheme);
  return (
    <div className="grid max-w-md gap-3 sm:grid-cols-2">
      <Pick
        label={nav.languageLabel}
        value={language}
        onChange={({ target }) => setLanguage(target.value as Language)}
        options={languages.map((one) => [one, languageName(one)] as const)}
      />
      <Pick
        label={nav.theme}
        value={theme}
        onChange={({ target }) => {
          chooseTheme(target.value as Theme);
          setTheme(target.value as Theme);
        }}
        options={themes.map((one) => [one, nav.themes[one]] as const)}
      />
    </div>
  );
}
