import type { Json, JsonObject } from '@parley/contracts';
import { checkDefinition } from './check-definition';
import type { Definition } from './definition';

const typeWith = (schema: JsonObject) =>
  ({ slug: 'place', name: 'Place', schema }) as Definition<'entityTypes'>;
const triggerWith = (condition: JsonObject) =>
  ({
    slug: 't',
    name: 'T',
    on: { entityType: 'order', action: 'created', condition },
    actions: [],
  }) as unknown as Definition<'triggers'>;
const lines = (problems: { path: string; message: string }[]) =>
  problems.map(({ path, message }) => `${path}: ${message}`);

describe('names of fields', () => {
  const of = (schema: JsonObject) => lines(checkDefinition('entityTypes', typeWith(schema)));

  test.each<[JsonObject, string]>([
    [{ 'address.city': 'string' }, 'schema.address.city: the name of a field cannot contain a dot'],
    [{ '': 'string' }, 'schema.: a field must have a name'],
    [{ $gt: 'number' }, 'schema.$gt: the name of a field cannot begin with $'],
    [
      { type: 'object', properties: { 'a.b': { type: 'string' } } },
      'schema.a.b: the name of a field cannot contain a dot',
    ],
    [
      { address: { type: 'object', properties: { 'geo.lat': { type: 'number' } } } },
      'schema.address.properties.geo.lat: the name of a field cannot contain a dot',
    ],
    [
      { lines: { type: 'array', items: { type: 'object', properties: { $sku: 'string' } } } },
      'schema.lines.items.properties.$sku: the name of a field cannot begin with $',
    ],
  ])('%j is refused', (schema, problem) =>
    expect(of(schema)).toEqual([expect.stringContaining(problem)]),
  );

  test('other names are accepted', () =>
    expect(of({ 'price USD': 'number', 'ñ-1': 'string', a$: 'string' })).toEqual([]));

  test('a name that is stored is no problem, another one is', () => {
    const stored = typeWith({ 'a.b': 'string' });
    expect(checkDefinition('entityTypes', typeWith({ 'a.b': 'number' }), stored)).toEqual([]);
    const added = typeWith({ 'a.b': 'string', 'c.d': 'string' });
    expect(lines(checkDefinition('entityTypes', added, stored))).toEqual([
      expect.stringMatching(/^schema\.c\.d: /),
    ]);
  });
});

describe('conditions', () => {
  const of = (condition: Json) =>
    lines(checkDefinition('triggers', triggerWith({ 'data.total': condition })));

  test.each<[Json, string]>([
    [{ $gt: null }, '$gt'],
    [{ $gt: true }, '$gt'],
    [{}, 'an operator object is empty'],
    ['{{trigger.data.x}}', 'conditions have no templates'],
    [{ gt: 5 }, '"gt" is no operator. Did you mean $gt?'],
    [{ $gt: 5, other: 1 }, 'unknown operator'],
  ])('%j is refused', (condition, problem) =>
    expect(of(condition)).toEqual([expect.stringContaining(problem)]),
  );

  test.each<Json>([
    5,
    null,
    'paid',
    { $gt: 5 },
    { $in: ['a'] },
    { $exists: false },
    { city: 'Lima' },
  ])('%j is accepted', (condition) => expect(of(condition)).toEqual([]));

  test('a path with an empty name is refused, and the status of an entity has conditions, too', () => {
    expect(lines(checkDefinition('triggers', triggerWith({ 'data.a..b': 1 })))).toHaveLength(1);
    const status = triggerWith({ status: 'draft', previousStatus: { $ne: 'draft' } });
    expect(checkDefinition('triggers', status)).toEqual([]);
    expect(checkDefinition('triggers', triggerWith({ status: { $gt: null } }))).toHaveLength(1);
  });
});
