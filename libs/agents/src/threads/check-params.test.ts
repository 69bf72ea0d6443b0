import type { JsonObject } from '@parley/contracts';
import { checkParams } from './check-params';

const names = ['__proto__', 'constructor', 'toString'];
const declared = names.map((name) => ({ name, type: 'object' as const }));
const parsed = (text: string) => JSON.parse(text) as JsonObject;
const given = parsed('{"__proto__":{"a":1},"constructor":{"b":2},"toString":{"c":3}}');

test('params whose names every object inherits are kept as any others', () => {
  const checked = checkParams(declared, given, { stored: {}, mustBeComplete: true });
  expect(JSON.stringify(checked)).toBe(JSON.stringify({ ok: true, params: given }));
  const emptied = parsed('{"__proto__":null,"constructor":null,"toString":null}');
  const cleared = checkParams(declared, emptied, { stored: given, mustBeComplete: false });
  expect(JSON.stringify(cleared)).toBe(JSON.stringify({ ok: true, params: emptied }));
});

test('a required one that was not sent is missing', () => {
  const required = declared.map((param) => ({ ...param, required: true }));
  expect(checkParams(required, {}, { stored: {}, mustBeComplete: true })).toEqual({
    ok: false,
    problems: names.map((name) => ({
      path: `threadContext.params.${name}`,
      message: 'is required',
    })),
  });
});
