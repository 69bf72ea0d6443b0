import { setLanguage } from '../../language';
import type { Policy, ScopeRule } from '../build/definitions';
import { buildCatalog } from '../build/texts';
import { wordsOf } from './words';

const en = wordsOf(buildCatalog.en);
const es = wordsOf(buildCatalog.es);
beforeEach(() => setLanguage('en'));

const allow = (actions: string[], resource: string): Policy => ({
  actions,
  resource,
  effect: 'allow',
});

test('a policy is a sentence', () => {
  expect(en.policy(allow(['read', 'list', 'update'], 'order'))).toBe(
    'May read, list, and update order',
  );
  expect(en.policy({ ...allow(['delete'], '*'), effect: 'deny' })).toBe(
    'May never delete anything',
  );
  expect(en.policy(allow(['*'], '*'))).toBe('May do everything with everything');
  setLanguage('es');
  expect(es.policy(allow(['read', 'list'], 'order'))).toBe('Puede leer y listar order');
  expect(es.policy({ ...allow(['*'], '*'), effect: 'deny' })).toBe(
    'Nunca puede hacer todo con cualquier cosa',
  );
});

test.each(['constructor', '__proto__', 'approve'])(
  'the action %j, which has no word, is named',
  (action) => {
    expect(en.policy(allow([action], 'order'))).toBe(`May ${action} order`);
  },
);

test('a condition has the words of its operator, with and without its sign', () => {
  expect(en.condition({ field: 'data.total', operator: '$gte', value: 10 })).toBe(
    'data.total is at least 10',
  );
  expect(en.condition({ field: 'status', operator: 'in', value: ['a', null] })).toBe(
    'status is one of a, null',
  );
  expect(en.condition({ field: 'x', operator: '$near', value: { lat: 1 } })).toBe(
    'x $near {"lat":1}',
  );
  expect(en.condition({ field: 'x', operator: 'constructor', value: '' })).toBe('x constructor ');
});

test('conditions of a rule hold together', () => {
  const all = [
    { field: 'a', operator: 'eq', value: 1 },
    { field: 'b', operator: 'ne', value: 'x' },
  ];
  expect(en.conditions(all)).toBe('a is 1 and b is not x');
  setLanguage('es');
  expect(es.conditions(all)).toBe('a es 1 y b no es x');
});

test('alternatives of one type with the same name are one sentence, others are not', () => {
  const rule = (entityType: string, value: number, anyOf?: string): ScopeRule => ({
    entityType,
    field: 'a',
    operator: 'eq',
    value,
    anyOf,
  });
  const rules = [
    rule('order', 1, 'own'),
    rule('order', 2),
    rule('order', 3, 'own'),
    rule('lead', 4, 'own'),
    rule('order', 5),
  ];
  expect(en.scopeRules(rules)).toEqual([
    'Only where a is 1 or a is 3',
    'Only where a is 2',
    'Only where a is 4',
    'Only where a is 5',
  ]);
  expect(en.scopeRules([])).toEqual([]);
});

test('a mask says what is not seen', () => {
  expect(en.mask({ entityType: 'lead', fieldPath: 'rut', maskType: 'hide' })).toBe(
    'Never sees rut',
  );
  expect(es.mask({ entityType: 'lead', fieldPath: 'rut', maskType: 'redact' })).toBe(
    'Ve «[redacted]» en lugar de rut',
  );
});
