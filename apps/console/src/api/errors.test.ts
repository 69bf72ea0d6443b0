import { ParleyApiError } from '@parley/client';
import { setLanguage } from '../language';
import { isLost, isMissing, messageOf } from './errors';

const errorOf = (status: number, body: object) => new ParleyApiError(status, body);
beforeEach(() => setLanguage('en'));

test('an error that people read in their language has the text of its code', () => {
  const error = errorOf(401, {
    error: 'Wrong e-mail address or password',
    code: 'wrong_credentials',
  });
  expect(messageOf(error)).toBe('Wrong e-mail address or password');
  setLanguage('es');
  expect(messageOf(error)).toBe('El correo electrónico o la contraseña no son correctos.');
});

test.each(['constructor', '__proto__', 'toString', ''])(
  'the code %j has no text of its own',
  (code) => {
    setLanguage('es');
    expect(messageOf(errorOf(400, { error: 'Refused', code }))).toBe('Refused');
  },
);

test('an invalid input names the first field that is wrong, once', () => {
  const details = [
    { path: 'data.age', message: '"age" must be a number' },
    { path: 'x', message: 'other' },
  ];
  expect(messageOf(errorOf(400, { error: 'Invalid data', details }))).toBe(
    'Invalid data: "age" must be a number',
  );
  expect(messageOf(errorOf(400, { error: '"age" must be a number', details }))).toBe(
    '"age" must be a number',
  );
  expect(messageOf(errorOf(400, { error: 'Invalid data', details: [] }))).toBe('Invalid data');
});

test('an answer without a text, and an error that is no answer, have a message too', () => {
  expect(messageOf(new ParleyApiError(502, '<html>'))).toBe('HTTP 502');
  expect(messageOf(new TypeError('x is not a function'))).toBe('x is not a function');
});

test('what is missing, and what is away', () => {
  expect(isMissing(errorOf(404, {}))).toBe(true);
  expect([errorOf(410, {}), new Error('404')].map(isMissing)).toEqual([false, false]);
  expect([0, 502, 503, 504].map((status) => isLost(errorOf(status, {})))).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([400, 429, 500].map((status) => isLost(errorOf(status, {})))).toEqual([
    false,
    false,
    false,
  ]);
  expect(isLost(new TypeError('fetch failed'))).toBe(false);
});
