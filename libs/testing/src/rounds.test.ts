import { rounds } from './rounds';

const before = process.env.PARLEY_TEST_ROUNDS;
afterEach(() => {
  if (before === undefined) delete process.env.PARLEY_TEST_ROUNDS;
  else process.env.PARLEY_TEST_ROUNDS = before;
});

test.each([
  [undefined, 5],
  ['small', 5],
  ['full', 500],
])('with PARLEY_TEST_ROUNDS=%s a test has %d rounds', (size, expected) => {
  delete process.env.PARLEY_TEST_ROUNDS;
  if (size !== undefined) process.env.PARLEY_TEST_ROUNDS = size;
  expect(rounds(5, 500)).toBe(expected);
});

test('another size is refused, so that a misspelled long run does not pass as a short one', () => {
  process.env.PARLEY_TEST_ROUNDS = 'Full';
  expect(() => rounds(5, 500)).toThrow('PARLEY_TEST_ROUNDS is small or full, not Full');
});
