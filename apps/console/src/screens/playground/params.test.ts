import type { JsonObject } from '@parley/client';
import type { Param } from '../build/definitions';
import { free, paramsOf, textOf } from './params';

const param = (name: string, type: Param['type'], required = false): Param => ({
  name,
  type,
  required,
});

test.each([
  [undefined, ''],
  [null, ''],
  ['text', 'text'],
  [0, '0'],
  [false, 'false'],
  [{ a: [1] }, '{"a":[1]}'],
])('the value %j is shown as %j', (value, text) => {
  expect(textOf(value)).toBe(text);
});

test.each<[Param['type'], string, JsonObject[string]]>([
  ['string', ' ñandú 👋 "x"\n', ' ñandú 👋 "x"\n'],
  ['string', '12', '12'],
  ['number', ' -1.5e3 ', -1_500],
  ['boolean', 'true', true],
  ['boolean', 'no', false],
  ['object', '{"a": {"b": null}}', { a: { b: null } }],
])('a param of the type %s that was typed as %j', (type, text, value) => {
  expect(paramsOf([param('p', type)], { p: text }, {})).toEqual({
    params: { p: value },
    problems: [],
  });
});

test.each<[Param['type'], string]>([
  ['number', '1,5'],
  ['number', '1e999'],
  ['number', 'twelve'],
  ['object', '[1]'],
  ['object', '{'],
])('a param of the type %s is not sent as %j', (type, text) => {
  expect(paramsOf([param('p', type)], { p: text }, {})).toEqual({
    params: {},
    problems: [{ name: 'p', kind: type }],
  });
});

test('a param that was not typed is not sent: the thread keeps it', () => {
  expect(paramsOf([param('p', 'string', true)], {}, { p: 'kept' })).toEqual({
    params: {},
    problems: [],
  });
});

test('a param that was emptied is sent as null if the thread has it', () => {
  expect(paramsOf([param('p', 'string')], { p: ' ' }, { p: 'kept' }).params).toEqual({ p: null });
  expect(paramsOf([param('p', 'string')], { p: '' }, {}).params).toEqual({});
});

test('a required param that neither the form nor the thread has is a problem', () => {
  const problems = [{ name: 'p', kind: 'required' }];
  expect(paramsOf([param('p', 'string', true)], {}, {}).problems).toEqual(problems);
  expect(paramsOf([param('p', 'string', true)], {}, { p: null }).problems).toEqual(problems);
  expect(paramsOf([param('p', 'number', true)], { p: '' }, { p: 4 }).problems).toEqual(problems);
});

test.each(['constructor', '__proto__', 'toString'])(
  'a param with the name %j is like any other',
  (name) => {
    expect(paramsOf([param(name, 'string', true)], {}, {}).problems).toEqual([
      { name, kind: 'required' },
    ]);
    const typed = Object.fromEntries([[name, 'x']]);
    expect(Object.entries(paramsOf([param(name, 'string')], typed, {}).params)).toEqual([
      [name, 'x'],
    ]);
  },
);

test('an agent that declares none takes any object', () => {
  expect(paramsOf([], {}, {})).toEqual({ params: {}, problems: [] });
  expect(paramsOf([], { [free]: '  ' }, {})).toEqual({ params: {}, problems: [] });
  expect(paramsOf([], { [free]: '{"a": 1}' }, {})).toEqual({ params: { a: 1 }, problems: [] });
  expect(paramsOf([], { [free]: '1' }, {}).problems).toEqual([{ name: free, kind: 'object' }]);
});
