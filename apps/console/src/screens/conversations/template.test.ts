import type { JsonObject } from '@parley/client';
import { componentsOf, fieldOf, previewOf, readTemplate } from './template';

const read = (components: JsonObject[]) =>
  readTemplate({ name: 'order', language: 'es_CL', components });
const full = read([
  { type: 'HEADER', format: 'TEXT', text: 'Hola {{1}}' },
  { type: 'body', text: 'Pedido {{ order_id }} de {{name}}, {{name}}.' },
  { type: 'FOOTER', text: 'Tienda' },
  {
    type: 'BUTTONS',
    buttons: [
      { type: 'QUICK_REPLY', text: 'Gracias' },
      { type: 'URL', text: 'Ver', url: 'https://shop.example/{{1}}' },
      { type: 'URL', text: 'Inicio', url: 'https://shop.example' },
    ],
  },
]);
const values = new Map([
  ['header  1', 'Ana'],
  ['body  order_id', '$& {{name}}'],
  ['body  name', 'Ana María'],
  ['button 1 1', '42'],
]);

test('the parts of a template are those with a text, and the buttons with a value', () => {
  expect(full).toMatchObject({
    name: 'order',
    language: 'es_CL',
    hasMedia: false,
    footer: 'Tienda',
  });
  expect(full.parts.map(({ type, index, variables }) => [type, index, variables])).toEqual([
    ['header', undefined, ['1']],
    ['body', undefined, ['order_id', 'name']],
    ['button', 1, ['1']],
  ]);
});

test('variables of the same name in two parts are two fields', () => {
  const [header, , button] = full.parts;
  expect(fieldOf(header!, '1')).not.toBe(fieldOf(button!, '1'));
});

test('the preview has the values as they are, also those that look like marks', () => {
  expect(previewOf(full, values)).toBe(
    'Hola Ana\n\nPedido $& {{name}} de Ana María, Ana María.\n\nTienda',
  );
});

test('a value that is missing leaves its mark', () => {
  expect(previewOf(full, new Map([['header  1', '']]))).toBe(
    'Hola {{1}}\n\nPedido {{ order_id }} de {{name}}, {{name}}.\n\nTienda',
  );
});

test('the values are sent in the form of Meta: named ones with their names', () => {
  expect(componentsOf(full, values)).toEqual([
    { type: 'header', parameters: [{ type: 'text', text: 'Ana' }] },
    {
      type: 'body',
      parameters: [
        { type: 'text', parameter_name: 'order_id', text: '$& {{name}}' },
        { type: 'text', parameter_name: 'name', text: 'Ana María' },
      ],
    },
    { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: '42' }] },
  ]);
});

test('a template without variables sends no values', () => {
  const plain = read([{ type: 'BODY', text: 'Hola 👋' }]);
  expect(componentsOf(plain, new Map())).toEqual([]);
  expect(previewOf(plain, new Map())).toBe('Hola 👋');
});

test.each(['IMAGE', 'document', 'LOCATION'])('a header of the format %s is no text', (format) => {
  const template = read([
    { type: 'HEADER', format },
    { type: 'BODY', text: 'Hi' },
  ]);
  expect(template.hasMedia).toBe(true);
  expect(template.parts.map(({ type }) => type)).toEqual(['body']);
});

test.each([undefined, null, 'none', 4, {}])('components that are %j are none', (components) => {
  const template = readTemplate({ name: 'a', language: 'en', components } as JsonObject);
  expect(template).toMatchObject({
    hasMedia: false,
    footer: '',
    parts: [{ type: 'body', text: '' }],
  });
  expect(previewOf(template, new Map())).toBe('');
});
