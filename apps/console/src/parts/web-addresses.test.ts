import { findAddresses } from './web-addresses';

const hrefs = (text: string) => findAddresses(text).map(({ href }) => href);

test.each([
  ['See https://example.com/a.', ['https://example.com/a']],
  ['(https://example.com/a)', ['https://example.com/a']],
  ['https://example.com/a_(b)', ['https://example.com/a_(b)']],
  ['[x](https://example.com/a?b=1).', ['https://example.com/a?b=1']],
  ['http://a.example, https://b.example!', ['http://a.example', 'https://b.example']],
  ['https:// and https://...', []],
  ['javascript:alert(1)', []],
])('the addresses in %s', (text, expected) => {
  expect(hrefs(text)).toEqual(expected);
});

// A pattern that looks for the end of the punctuation from each of its characters
// would take minutes.
test.each(['.', ')', '*_', '.)', ',;:!?'])(
  'an address that is followed by a million of %s takes no quadratic time',
  (end) => {
    expect(
      hrefs(`https://example.com/a${end.repeat(1_000_000 / end.length)}x https://b.example${end}`),
    ).toHaveLength(2);
    expect(hrefs(`https://example.com/a${end.repeat(1_000_000 / end.length)}`)).toEqual([
      'https://example.com/a',
    ]);
  },
);
