import { stored } from './stored';

const choice = stored('theme');
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const chosenTheme = (): Theme => themes.find((theme) => theme === choice.get()) ?? 'system';

/** The colour of the phone's bars: n1 of each theme, as index.html has it. */
const barColours = { light: '#fdfdfd', dark: '#0e0f12' };

export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    const ofDevice = meta.media.includes('dark') ? 'dark' : 'light';
    meta.content = barColours[theme === 'system' ? ofDevice : theme];
  }
}

export function chooseTheme(theme: Theme): void {
  choice.set(theme);
  applyTheme(theme);
}
