import { column, orderValues, statement } from './statement';

const renameOrder = statement(
  'rename-order',
  `update orders set name = $name, slug = lower($name) where tenant = $tenant and id = any($ids::text[])
   returning id`,
  { id: column.text },
);

test('PostgreSQL gets numbers for the names of parameters, one for each name', () => {
  expect(renameOrder.text).toBe(
    `update orders set name = $1, slug = lower($1) where tenant = $2 and id = any($3::text[])
   returning id`,
  );
  expect(renameOrder.parameters).toEqual(['name', 'tenant', 'ids']);
});

test('a call gives values by name, and the tenant is that of the call', () => {
  expect(orderValues(renameOrder, { ids: ['a'], name: 'A' }, 7)).toEqual(['A', 7, ['a']]);
  expect(orderValues(renameOrder, { ids: [], name: null, tenant: 8 })).toEqual([null, 8, []]);
});

test.each([
  ['a missing value', { name: 'A' }, 'The statement rename-order needs a value for $ids'],
  [
    'another value',
    { name: 'A', ids: [], slug: 'a' },
    'Only name, tenant, ids are parameters of the statement rename-order',
  ],
  [
    'another tenant',
    { name: 'A', ids: [], tenant: 8 },
    'Only name, tenant, ids are parameters of the statement rename-order',
  ],
])('refuses %s', (_what, values, problem) => {
  expect(() => orderValues(renameOrder, values, 7)).toThrow(problem);
});

test('refuses numbered parameters', () => {
  expect(() => statement('by-number', 'select from orders where id = $1')).toThrow(
    'The parameters of the statement by-number need names',
  );
});
