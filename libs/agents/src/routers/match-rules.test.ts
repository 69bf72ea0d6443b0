import type { Json } from '@parley/contracts';
import { matchRules, typesOfRules } from './match-rules';

type Operator = Parameters<typeof matchRules>[0][number]['conditions'][number]['operator'];
const rule = (field: string, operator: Operator, value: Json) => [
  { conditions: [{ field, operator, value }], route: 'yes' },
];
const entities = new Map([
  [
    'customer',
    { plan: 'gold', debt: 50, tags: ['new', 'web'], address: { city: 'Lima' }, none: null },
  ],
]);

it.each<[string, Operator, Json, boolean]>([
  ['customer.plan', 'eq', 'gold', true],
  ['customer.plan', '$eq', 'silver', false],
  ['customer.data.plan', 'eq', 'gold', true],
  ['customer.plan', 'ne', 'silver', true],
  ['customer.plan', 'neq', 'gold', false],
  ['customer.plan', 'in', ['gold', 'x'], true],
  ['customer.plan', '$nin', ['gold', 'x'], false],
  ['customer.debt', 'gt', 49, true],
  ['customer.debt', 'gte', 50, true],
  ['customer.debt', 'lt', 50, false],
  ['customer.debt', 'lte', 50, true],
  ['customer.debt', 'gt', '49', false],
  ['customer.plan', 'lt', 'silver', true],
  ['customer.tags', 'contains', 'web', true],
  ['customer.plan', 'contains', 'ol', true],
  ['customer.debt', 'contains', 5, false],
  ['customer.address.city', 'eq', 'Lima', true],
  ['customer.none', 'exists', true, false],
  ['customer.nothing', 'exists', false, true],
  ['customer.__proto__', 'exists', true, false],
  ['customer.plan', 'exists', 'yes', true],
  ['customer.nothing', 'exists', null, false],
  ['order.total', 'ne', 5, false],
  ['order.total', 'exists', false, false],
  ['order', 'exists', false, true],
  ['customer', 'exists', true, true],
])('%s %s %j is %s', (field, operator, value, expected) => {
  expect(matchRules(rule(field, operator, value), entities)).toBe(expected ? 'yes' : null);
});

it('takes the first rule whose conditions are all true', () => {
  const rules = [
    {
      conditions: [
        ...rule('customer.plan', 'eq', 'gold')[0]!.conditions,
        ...rule('customer.debt', 'gt', 99)[0]!.conditions,
      ],
      route: 'a',
    },
    { conditions: rule('customer.debt', 'gt', 10)[0]!.conditions, route: 'b' },
    { conditions: rule('customer.debt', 'gt', 5)[0]!.conditions, route: 'c' },
  ];
  expect(matchRules(rules, entities)).toBe('b');
  expect(matchRules([], entities)).toBeNull();
  expect(typesOfRules([...rules, ...rule('order.total', 'gt', 1)])).toEqual(['customer', 'order']);
});
