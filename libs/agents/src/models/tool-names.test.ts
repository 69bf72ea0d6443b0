import fc from 'fast-check';
import { createToolNames } from './tool-names';

it('converts dots to underscores and back', () => {
  const names = createToolNames(['entity.query', 'orders.find-all', 'plain']);
  expect(names.toProvider('entity.query')).toBe('entity_query');
  expect(names.fromProvider('entity_query')).toBe('entity.query');
  expect(names.fromProvider('orders_find-all')).toBe('orders.find-all');
  expect(names.fromProvider('never_offered')).toBe('never_offered');
});

it('gives different names to tools whose names would be equal', () => {
  const names = createToolNames(['a.b_c', 'a_b.c', 'a_b_c', 'a.b.c']);
  expect(names.toProvider('a_b_c')).toBe('a_b_c');
});

it('is bijective for any list, within what providers accept', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', 'b', '_', '.', '-', '1'),
    minLength: 1,
    maxLength: 90,
  });
  fc.assert(
    fc.property(fc.uniqueArray(word, { maxLength: 30 }), (list) => {
      const names = createToolNames(list);
      const encoded = list.map(names.toProvider);
      expect(new Set(encoded).size).toBe(list.length);
      expect(encoded.map(names.fromProvider)).toEqual(list);
      for (const name of encoded) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
    }),
  );
});
