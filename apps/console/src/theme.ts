import { stored } from './stored';

const choice = stored('theme');
export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

export const chosenTheme = (): Theme => themes.find((theme) => theme === choice.get()) ?? 'system';

export function applyTheme(theme: Theme = chosenTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function chooseTheme(theme: Theme): void {
  choice.set(theme);
  applyTheme(theme);
}
