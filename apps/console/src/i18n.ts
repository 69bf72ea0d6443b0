import { useSyncExternalStore } from 'react';
import type { Catalog } from './catalog';
import { type Language, currentLanguage, subscribeToLanguage } from './language';
import { type Texts, commonCatalog } from './texts/common';

// What screens show in the current language is imported from here.
export * from './formats';
export { type Language, languageName, languages, setLanguage } from './language';

const nameLanguage = () => {
  document.documentElement.lang = currentLanguage();
};
nameLanguage();
subscribeToLanguage(nameLanguage);

export const useLanguage = (): Language =>
  useSyncExternalStore(subscribeToLanguage, currentLanguage);
/** The texts of a catalog in the current language; without one, those that all screens use. */
export function useTexts(): Texts;
export function useTexts<Own>(catalog: Catalog<Own>): Own;
export function useTexts(catalog: Catalog<unknown> = commonCatalog): unknown {
  return catalog[useLanguage()];
}
