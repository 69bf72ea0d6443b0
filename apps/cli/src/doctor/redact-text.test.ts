import { createRedactor } from './redact-text';

const redact = createRedactor(['hunter22']);

test.each([
  ['the password hunter22 is here', 'the password [secret] is here'],
  ['mail ana.rojas+x@mail.example.com now', 'mail [e-mail] now'],
  ['postgresql://user:word@db:5432/x', 'postgresql://[user]@db:5432/x'],
  ['Bearer abc.def', 'Bearer [key]'],
  ['sk_dev_abcdefghij', '[key]'],
  ['call +56 9 1234 5678 now', 'call [number] now'],
])('%s', (text, redacted) => {
  expect(redact(text)).toBe(redacted);
});

// Logs contain texts of anyone. A pattern that reads a long word from each of its characters
// would take minutes.
test.each(['a', 'a.', 'a+', '1', '-', 'a:', '/', '://', '@', ' ', '1 '])(
  'a long text of %j takes no quadratic time',
  (part) => {
    const text = part.repeat(1_000_000 / part.length);
    expect(redact(`${text} ana@mail.example`)).toMatch(/\[e-mail\]$|\[token\]/);
  },
);
