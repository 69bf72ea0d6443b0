import { parseObject } from './parse-object';

test('an object of JSON is its value, with all names', () => {
  expect(parseObject(' {"a": {"ñ": [1, null]}} ')).toEqual({ value: { a: { ñ: [1, null] } } });
  const parsed = parseObject('{"__proto__": {"isAdmin": true}}') as { value: object };
  expect(Object.keys(parsed.value)).toEqual(['__proto__']);
  expect('isAdmin' in parsed.value).toBe(false);
});

test.each(['[]', 'null', '1', '"text"', 'true'])(
  '%s is no object, which needs no further reason',
  (text) => {
    expect(parseObject(text)).toEqual({ problem: null });
  },
);

test.each(['', ' ', '{', "{'a': 1}", '{"a": 1,}', '{"a": NaN}', '\uFEFF{}'])(
  '%j is no JSON, with a reason',
  (text) => {
    expect(parseObject(text)).toEqual({
      problem: expect.stringMatching(/JSON|property|position/i) as string,
    });
  },
);
