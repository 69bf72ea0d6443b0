import { stored } from './stored';
import { commonCatalog } from './texts/common';

export type Language = keyof typeof commonCatalog;
export const languages = Object.keys(commonCatalog) as Language[];
export const languageName = (language: Language): string => commonCatalog[language].language;

/**
 * The language that the person has chosen, else the first one of the browser that the console
 * has, else English.
 */
export function languageFor(chosen: string | null, tags: readonly string[]): Language {
  const names = [chosen, ...tags.map((tag) => tag.slice(0, 2))];
  return names.flatMap((name) => languages.find((language) => language === name) ?? [])[0] ?? 'en';
}

const choice = stored('language');
let current = languageFor(choice.get(), navigator.languages);
const listeners = new Set<() => void>();

/** Outside of components, which follow a change with `useLanguage`. */
export const currentLanguage = (): Language => current;

export function setLanguage(language: Language): void {
  choice.set(language);
  current = language;
  for (const listener of listeners) listener();
}

export function subscribeToLanguage(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
