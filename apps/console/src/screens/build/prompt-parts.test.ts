import { markValues, splitTemplate } from './prompt-parts';

const namesOf = (template: string) =>
  splitTemplate(template).flatMap(({ name }) => (name === null ? [] : [name]));

test.each([
  ['Hello {{ name }}, {{a.b | "you"}}!', ['name', 'a.b']],
  [
    '{{tool.run({"text": "a) }} \\" b", "n": (1)})}} and {{ tool.other() | "none" }}',
    ['tool.run', 'tool.other'],
  ],
  ['{{ not a path! }} {{}} {{1}}', ['not a path!', '', '1']],
  ['{{open {{name}}', ['open {{name']],
  ['no end {{ name', []],
])('the expressions of %s', (template, names) => {
  expect(namesOf(template)).toEqual(names);
  expect(
    splitTemplate(template)
      .map(({ text }) => text)
      .join(''),
  ).toBe(template);
});

test('the values of a compiled prompt are what is between the texts of its template', () => {
  expect(markValues('Hello {{name}}. Bye', 'Hello Ana. Bye')).toEqual([
    { text: 'Hello ', name: null },
    { text: 'Ana', name: 'name' },
    { text: '. Bye', name: null },
  ]);
  expect(markValues('Hello {{name}}', 'Other text')).toEqual([{ text: 'Other text', name: null }]);
});

// A pattern that reads blanks or openings again from each position would take minutes.
test.each([
  ['blanks in an expression', `{{a${' '.repeat(200_000)}x}}`],
  ['blanks before a fallback', `{{a ${' '.repeat(200_000)}| ${' '.repeat(200_000)}"x`],
  ['openings', '{{ '.repeat(100_000)],
  ['names that are not closed', '{{a'.repeat(100_000)],
  ['calls that are not closed', '{{a('.repeat(50_000)],
  ['strings that are not closed', `{{a("${'}}{{a(\\"'.repeat(50_000)}`],
])('a template of %s takes no quadratic time', (_name, template) => {
  expect(
    splitTemplate(template)
      .map(({ text }) => text)
      .join(''),
  ).toBe(template);
});
