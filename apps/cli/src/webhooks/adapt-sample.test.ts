import type { JsonObject } from '@parley/contracts';
import { setMember } from './adapt-sample';

test.each([
  '__proto__.polluted=1',
  'constructor.prototype.polluted=1',
  'data.__proto__.polluted=1',
  '__proto__=1',
])('--set %s changes the sample and no other object', (change) => {
  const body: JsonObject = { data: { a: 1 } };
  setMember(body, change);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  expect(Object.getPrototypeOf(body)).toBe(Object.prototype);
  const names = change.split('=')[0]!.split('.');
  const found = names.reduce<unknown>(
    (value, name) => Object.getOwnPropertyDescriptor(value as object, name)?.value,
    body,
  );
  expect(found).toBe(1);
});
