import { providerOf, servers } from './providers';

test('a provider of the list has its name; a server has the name that its environment gave it', () => {
  expect(providerOf('flow')).toMatchObject({ name: 'Flow', isSimulated: true });
  expect(providerOf('mcp.stock')).toEqual({ name: 'mcp.stock' });
});

test.each(['constructor', '__proto__', 'toString', ''])(
  'a server with the name %j is no provider of the list',
  (name) => {
    expect(providerOf(name)).toEqual({ name });
  },
);

test('a server needs its address; its secrets are optional', () => {
  const required = (kind: keyof typeof servers) =>
    servers[kind].fields.flatMap(({ name, isRequired }) => (isRequired ? [name] : []));
  const secret = (kind: keyof typeof servers) =>
    servers[kind].fields.flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
  expect([required('mcp'), secret('mcp')]).toEqual([['url'], ['apiKey', 'headers']]);
  expect([required('models'), secret('models')]).toEqual([['baseUrl'], ['apiKey']]);
});
