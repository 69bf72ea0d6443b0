import { KeySequence, keyName } from './key-sequence';

const press = (
  key: string,
  timeStamp: number,
  modifiers: { ctrlKey?: boolean; metaKey?: boolean } = {},
) => ({
  key,
  timeStamp,
  ctrlKey: false,
  metaKey: false,
  ...modifiers,
});

test('keys have the names that handlers use', () => {
  expect(keyName(press('J', 0))).toBe('j');
  expect(keyName(press('Enter', 0))).toBe('Enter');
  expect(keyName(press('K', 0, { ctrlKey: true }))).toBe('mod+k');
  expect(keyName(press('k', 0, { metaKey: true }))).toBe('mod+k');
  expect(keyName(press('Ñ', 0))).toBe('ñ');
  expect(keyName(press('?', 0))).toBe('?');
});

/** What each key means, when these are pressed: `g`, `g@900` (after 900 ms), `g!` (in a text). */
function meanings(keys: string): string[] {
  const sequence = new KeySequence();
  let nowMs = 0;
  return keys.split(' ').map((typed) => {
    const [, key, afterMs, isWriting] = /^(\w+?)(?:@(\d+))?(!)?$/.exec(typed)!;
    nowMs += Number(afterMs ?? 100);
    sequence.read(press(key!, nowMs), isWriting !== undefined);
    return sequence.pressed;
  });
}

test.each([
  ['a single key', 'j', ['j']],
  ['g and another key', 'g c', ['g', 'g c']],
  ['a second key in time', 'g c@999', ['g', 'g c']],
  ['a second key that is late', 'g c@1000', ['g', 'c']],
  ['a sequence has two keys', 'g c d', ['g', 'g c', 'd']],
  ['g twice is a sequence, and begins none', 'g g c', ['g', 'g g', 'c']],
  ['a g in a text begins none', 'g! c', ['g', 'c']],
  ['after a sequence another one begins', 'g c g d', ['g', 'g c', 'g', 'g d']],
])('%s', (_name, keys, expected) => {
  expect(meanings(keys)).toEqual(expected);
});

test('a key with a modifier is no second key of the same name', () => {
  const sequence = new KeySequence();
  sequence.read(press('g', 0), false);
  sequence.read(press('c', 10, { ctrlKey: true }), false);
  expect(sequence.pressed).toBe('g mod+c');
  sequence.read(press('g', 20, { ctrlKey: true }), false);
  sequence.read(press('c', 30), false);
  expect(sequence.pressed).toBe('c');
});
