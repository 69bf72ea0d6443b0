import { type ListedThread, filesIn, nameOf, phoneOf, windowEndOf, withoutFiles } from './names';

test.each([
  ['56912345678', '+56912345678'],
  ['1234567', '+1234567'],
  ['123456', '123456'],
  ['1234567890123456', '1234567890123456'],
  ['+56912345678', '+56912345678'],
  ['CL.13491208655302741918', 'CL.13491208655302741918'],
  ['', ''],
])('the id %j of a contact is shown as %j', (id, shown) => {
  expect(phoneOf(id)).toBe(shown);
});

test.each([
  [{ channel: 'whatsapp', externalId: 'whatsapp:56912345678', contactName: 'Ana' }, 'Ana'],
  [{ channel: 'whatsapp', externalId: 'whatsapp:56912345678', contactName: null }, '+56912345678'],
  [{ channel: 'whatsapp', externalId: 'order 12', contactName: null }, 'order 12'],
  [
    { channel: 'api', externalId: 'whatsapp:56912345678', contactName: null },
    'whatsapp:56912345678',
  ],
  [{ channel: 'widget', externalId: null, contactName: null }, null],
  [{ channel: 'whatsapp', externalId: null, contactName: null }, null],
  [{ channel: 'widget', externalId: 'v', contactName: '' }, ''],
])('a thread of %j', (thread, name) => {
  expect(nameOf(thread)).toBe(name);
});

test.each<[string, string, string[]]>([
  ['Look\n[image: https://a.example/x.png]', 'Look', ['image']],
  [
    '[voice: https://a.example/x] and [document: https://b.example/y]',
    'and',
    ['voice', 'document'],
  ],
  ['[sticker]', '', ['sticker']],
  ['two\n[image: a]\n[image: b]\nlines', 'two\nlines', ['image', 'image']],
  ['[location: here] [image of a cat]', '[location: here] [image of a cat]', []],
  ['', '', []],
])('the files of %j', (text, words, kinds) => {
  expect(withoutFiles(text)).toBe(words);
  expect(filesIn(text)).toEqual(kinds);
});

test('an instruction in place of a message is no text of a person', () => {
  expect(withoutFiles(`[${'a'.repeat(40)}]`)).toBe('');
  expect(withoutFiles(`[${'a'.repeat(39)}]`)).toBe(`[${'a'.repeat(39)}]`);
  expect(withoutFiles(`[${'a'.repeat(40)}] more`)).toBe(`[${'a'.repeat(40)}] more`);
});

test.each(['[image: ', '[image: a', '\n[image', '[', '[voice: x]'])(
  'a million of %j takes no quadratic time',
  (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    expect(withoutFiles(text).length + filesIn(text).length).toBeGreaterThan(0);
  },
);

test('the window of WhatsApp ends 24 hours after the last message, also over a change of the clock', () => {
  const at = Date.UTC(2026, 3, 4, 12);
  expect(windowEndOf({ channel: 'whatsapp', lastMessageAt: at } as ListedThread)).toBe(
    Date.UTC(2026, 3, 5, 12),
  );
  expect(windowEndOf({ channel: 'widget', lastMessageAt: at } as ListedThread)).toBeNull();
});
