import {
  currentLanguage,
  languageFor,
  languageName,
  languages,
  setLanguage,
  subscribeToLanguage,
} from './language';

test.each([
  ['the choice comes before the browser', 'es', ['en-US'], 'es'],
  ['a region is not part of the language', null, ['es-419', 'en'], 'es'],
  [
    'the first language of the browser that the console has',
    null,
    ['pt-BR', 'de', 'es-CL', 'en'],
    'es',
  ],
  ['no language that the console has', null, ['pt-BR', 'zh-Hant'], 'en'],
  ['no language at all', null, [], 'en'],
  ['an empty tag', '', [''], 'en'],
  ['a choice that no longer exists', 'fr', ['es'], 'es'],
  ['a stored text that is the name of a method', 'constructor', ['es'], 'es'],
])('%s', (_name, chosen, tags, language) => {
  expect(languageFor(chosen, tags)).toBe(language);
});

test('a change reaches those who follow it, until they stop', () => {
  const seen: string[] = [];
  const stop = subscribeToLanguage(() => seen.push(currentLanguage()));
  setLanguage('es');
  setLanguage('en');
  stop();
  setLanguage('es');
  expect(seen).toEqual(['es', 'en']);
  expect(currentLanguage()).toBe('es');
});

test('each language is named in itself', () => {
  expect(languages.map(languageName)).toEqual(['English', 'Español']);
});
