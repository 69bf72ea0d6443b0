import type { JsonObject } from '@parley/client';
import { entityOf } from '../../testing/entities';
import { type DataType, labelOf, readFields, withNested } from './fields';

const nested: JsonObject = {
  type: 'object',
  required: ['name', 'address'],
  properties: {
    name: { type: ['null', 'string'], description: 'Full name' },
    address: {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, zip: { type: 'integer' } },
    },
    tags: { type: 'array', items: { type: 'string' } },
    state: { enum: ['a', 2, null] },
    owner: { references: 'lead' },
    free: {},
  },
};

test('a schema with types, and its nested fields', () => {
  const fields = readFields(nested, ['name', 'address.city']);
  const short = withNested(fields).map(({ name, type, kind, isRequired }) => [
    name,
    type,
    kind,
    isRequired,
  ]);
  expect(short).toEqual([
    ['name', 'null / string', 'text', true],
    ['address', 'object', 'object', true],
    ['address.city', 'string', 'text', true],
    ['address.zip', 'integer', 'integer', false],
    ['tags', 'array', 'array', false],
    ['state', 'string', 'text', false],
    ['owner', 'string', 'text', false],
    ['free', 'any', 'any', false],
  ]);
  expect(withNested(fields).flatMap(({ name, isSearched }) => (isSearched ? [name] : []))).toEqual([
    'name',
    'address.city',
  ]);
});

test('what a field allows, refers to, contains and means', () => {
  const [name, , tags, state, owner] = readFields(nested);
  expect(name!.description).toBe('Full name');
  expect(tags!.items).toBe('string');
  expect(state!.options).toEqual(['a', 2, null]);
  expect(owner!.references).toBe('lead');
});

test('a flat map of names to types', () => {
  const fields = readFields({
    total: 'money',
    list: { type: 'array', items: 'number', required: true },
    type: 'string',
  });
  expect(
    fields.map(({ name, kind, isRequired, items }) => [name, kind, isRequired, items]),
  ).toEqual([
    ['total', 'number', false, undefined],
    ['list', 'array', true, 'number'],
    ['type', 'text', false, undefined],
  ]);
});

test.each<[JsonObject]>([[{}], [{ type: 'object', properties: {} }]])(
  'a schema without fields: %j',
  (schema) => {
    expect(readFields(schema).filter(({ name }) => name !== 'type')).toEqual([]);
  },
);

test.each<[unknown]>([[null], [4], [['string', 5]], [{ type: 5 }], [{ type: ['null'] }], [true]])(
  'a field that is described by %j, which no version wrote, is a field',
  (described) => {
    const [field] = readFields({ a: described } as JsonObject);
    expect(field).toMatchObject({ name: 'a', properties: [] });
    expect(typeof field!.type).toBe('string');
  },
);

const typeWith = (schema: JsonObject, searchFields: string[] = []) =>
  ({
    slug: 'order',
    name: 'Order',
    searchFields,
    schema: {},
    fields: readFields(schema, searchFields),
  }) as DataType;
const label = (data: JsonObject, type: DataType) => labelOf(entityOf('ent_1', data), type);

test('an entity is called by its first search field, then by its first text, else by its id', () => {
  const type = typeWith(
    { code: 'string', name: 'string', owner: { references: 'lead' }, total: 'number' },
    ['name'],
  );
  expect(label({ code: 'A', name: 'Ana' }, type)).toBe('Ana');
  expect(label({ code: 'A', name: ' ' }, type)).toBe('A');
  expect(label({ owner: 'lead_1', total: 5 }, type)).toBe('ent_1');
  expect(label({}, type)).toBe('ent_1');
});

test('a number that is searched is a name too, and a long text is cut', () => {
  const type = typeWith({ number: 'integer', text: 'string' }, ['number']);
  expect(label({ number: 0 }, type)).toBe('0');
  expect(label({ text: 'ñ'.repeat(500) }, type)).toHaveLength(200);
  expect(label({ number: { a: 1 } }, type)).toBe('ent_1');
});
