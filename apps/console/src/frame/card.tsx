import type { ReactNode } from 'react';
import {
  type Language,
  languageName,
  languages,
  setLanguage,
  useLanguage,
  useTexts,
} from '../i18n';
import { Button, Choice } from '../parts/controls';
import { useLeaveLink } from './use-leave-link';

/** The page around sign-in, invitations and links. */
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

/** In place of the page of a link that does not work any more. */
export function LinkEnded({ text, action }: { text: string; action: string }) {
  const { join } = useTexts();
  const leaveLink = useLeaveLink();
  return (
    <Card title={join.endedTitle}>
      <p className="mb-4 text-n11">{text}</p>
      <Button onClick={leaveLink}>{action}</Button>
    </Card>
  );
}
