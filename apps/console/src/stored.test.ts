import { stored, storedBelow } from './stored';
import { browserStorage } from './testing/browser-storage';

const useStorage = (storage: Storage | undefined) =>
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });

test('a text is kept in the storage of the browser, until null removes it', () => {
  useStorage(browserStorage());
  const box = stored('draft');
  expect(box.get()).toBeNull();
  box.set('¿Qué tal? 👋\n"x"');
  expect(stored('draft').get()).toBe('¿Qué tal? 👋\n"x"');
  expect(Object.keys(localStorage)).toEqual(['parley.draft']);
  box.set(null);
  expect(stored('draft').get()).toBeNull();
});

test('an empty text is a text', () => {
  useStorage(browserStorage());
  stored('draft').set('');
  expect(stored('draft').get()).toBe('');
});

test('what another tab has stored is read', () => {
  useStorage(browserStorage());
  const box = stored('theme');
  box.set('dark');
  localStorage.setItem('parley.theme', 'light');
  expect(box.get()).toBe('light');
});

test('without a storage the page remembers its own texts', () => {
  useStorage(undefined);
  const box = stored('theme');
  expect(box.get()).toBeNull();
  box.set('dark');
  expect(box.get()).toBe('dark');
  expect(stored('theme').get()).toBeNull();
  expect(storedBelow('theme')).toEqual([]);
});

test('a full storage is as none for the text that does not fit, and holds the next one that fits', () => {
  useStorage(browserStorage(10));
  const box = stored('draft');
  box.set('short');
  box.set('longer than the storage');
  expect(box.get()).toBe('longer than the storage');
  box.set('fits');
  expect(box.get()).toBe('fits');
  expect(stored('draft').get()).toBe('fits');
  box.set('longer than the storage');
  box.set(null);
  expect(box.get()).toBeNull();
  expect(stored('draft').get()).toBeNull();
});

test('the names below a name are those with a dot after it', () => {
  useStorage(browserStorage());
  for (const name of ['outbox.a.b', 'outbox.a.c.d', 'outbox.ab.e', 'outbox.a', 'other.a.f'])
    stored(name).set('x');
  localStorage.setItem('outbox.a.g', 'of another page');
  expect(storedBelow('outbox.a')).toEqual(['b', 'c.d']);
});
