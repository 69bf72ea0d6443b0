import { readStored, store } from './storage';

const use = (storage: Partial<Storage> | undefined) =>
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
const refuse = () => {
  throw new DOMException('The operation is insecure', 'SecurityError');
};

test('a text is stored, read and removed', () => {
  const texts = new Map<string, string>();
  use({
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  });
  expect(readStored('localStorage', 'a')).toBeUndefined();
  store('localStorage', 'a', '');
  expect(readStored('localStorage', 'a')).toBe('');
  store('localStorage', 'a', null);
  expect(readStored('localStorage', 'a')).toBeUndefined();
});

test.each<[string, Partial<Storage> | undefined]>([
  ['there is none', undefined],
  ['the browser refuses it', { getItem: refuse, setItem: refuse, removeItem: refuse }],
])('nothing is stored and nothing fails when %s', (_name, storage) => {
  use(storage);
  store('localStorage', 'a', 'x');
  store('localStorage', 'a', null);
  expect(readStored('localStorage', 'a')).toBeUndefined();
});

test('a storage that cannot even be named is none', () => {
  Object.defineProperty(globalThis, 'localStorage', { get: refuse, configurable: true });
  store('localStorage', 'a', 'x');
  expect(readStored('localStorage', 'a')).toBeUndefined();
});
