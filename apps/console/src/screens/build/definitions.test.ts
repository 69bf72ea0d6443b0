import { listsTool, modelName, shownValue } from './definitions';

test.each<[string[] | undefined, string, boolean]>([
  [['payment.create'], 'payment.create', true],
  [['payment.create'], 'payment.createLink', false],
  [['payment.*'], 'payment.create', true],
  [['payment.*'], 'payments.create', false],
  [['payment.*'], 'payment', false],
  [['mcp.stock.*'], 'mcp.stock.find', true],
  [['mcp.*'], 'mcp.stock.find', true],
  [['*'], 'entity.query', true],
  [['*'], 'mcp.stock.find', false],
  [['*'], 'mcpish', true],
  [['*', 'mcp.stock.find'], 'mcp.stock.find', true],
  [[], 'entity.query', false],
  [undefined, 'entity.query', false],
  [['.*'], 'entity.query', false],
])('the list %j and the tool %s', (list, tool, isListed) => {
  expect(listsTool(list, tool)).toBe(isListed);
});

test('a model is named, or has settings with its name', () => {
  expect([undefined, 'openai/gpt', { model: 'openai/gpt', temperature: 0 }].map(modelName)).toEqual(
    [undefined, 'openai/gpt', 'openai/gpt'],
  );
});

test.each([
  ['text', 'text'],
  ['', ''],
  [0, '0'],
  [false, 'false'],
  [null, 'null'],
  [['a', 1, ['b', null]], 'a, 1, b, null'],
  [[], ''],
  [{ a: '"' }, '{"a":"\\""}'],
])('the value %j is read as %j', (value, shown) => {
  expect(shownValue(value)).toBe(shown);
});
