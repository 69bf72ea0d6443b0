import type { IncomingMessage } from 'node:http';
import { readCookie, requireSameSite } from './session';

const requestOf = (headers: IncomingMessage['headers']) => ({ headers }) as IncomingMessage;
const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'parley.example' };
const http = { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'localhost:4000' };
const read = (cookie: string | undefined, of: IncomingMessage['headers'] = https) =>
  readCookie(requestOf({ ...of, cookie }), 'parley_session');

describe('a cookie over HTTPS', () => {
  it.each([
    ['alone', '__Host-parley_session=a'],
    ['among others', 'theme=dark; __Host-parley_session=a; x=__Host-parley_session=b'],
    ['with spaces and tabs around name and value', ' \t __Host-parley_session\t = a \t'],
    ['beside one without the prefix', 'parley_session=b; __Host-parley_session=a'],
  ])('is read %s', (_how, cookie) => {
    expect(read(cookie)).toBe('a');
  });

  it('keeps what is after the first equals sign, and decodes nothing', () => {
    expect(read('__Host-parley_session=a=%41"b"')).toBe('a=%41"b"');
  });

  // Browsers let other hosts of the site set all of these, because none begins with the prefix.
  const planted = [0x0b, 0x0c, 0x0d, 0x1f, 0x7f, 0x85, 0xa0, 0xad].map((code) =>
    String.fromCharCode(code),
  );
  it.each([
    ...planted.flatMap((byte) => [`${byte}__Host-parley_session`, `__Host-parley_session${byte}`]),
    ...['\ufeff', '\u2003', '\u3000'].map((character) =>
      Buffer.from(`${character}__Host-parley_session`).toString('latin1'),
    ),
    ...[
      '__host-parley_session',
      '__HOST-parley_session',
      '__Host-Parley_session',
      '%5F_Host-parley_session',
    ],
    ...[
      '"__Host-parley_session"',
      '__Host-parley_session[]',
      '__Host-parley_session.x',
      '$__Host-parley_session',
    ],
    ...[
      '__Secure-parley_session',
      '__Http-parley_session',
      '__Host-__Host-parley_session',
      'parley_session',
    ],
  ])('is not read by a name that resembles it: %j', (name) => {
    expect(read(`${name}=planted`)).toBeUndefined();
    expect(read(`${name}=planted; __Host-parley_session=own`)).toBe('own');
    expect(read(`__Host-parley_session=own; ${name}=planted`)).toBe('own');
  });

  it('has no value when its name is sent twice, which no browser does', () => {
    expect(read('__Host-parley_session=a; __Host-parley_session=b')).toBeUndefined();
    expect(read('__Host-parley_session=a; x=1; __Host-parley_session =a')).toBeUndefined();
  });

  it('is not read from a malformed header', () => {
    for (const cookie of [
      undefined,
      '',
      ';',
      '=',
      ';=;',
      '__Host-parley_session',
      '; ;;',
      '=__Host-parley_session',
    ])
      expect(read(cookie)).toBeUndefined();
  });

  it('is found in a long header, in a time that grows with its length', () => {
    const spaces = ' '.repeat(200_000);
    expect(read(`a${spaces}b=1;${spaces}__Host-parley_session${spaces}=${spaces}a${spaces}`)).toBe(
      'a',
    );
    expect(read(`${'x=1; '.repeat(50_000)}__Host-parley_session=a`)).toBe('a');
  });
});

describe('a cookie on plain HTTP', () => {
  it('has no prefix, and is read on this machine alone', () => {
    expect(read('parley_session=a', http)).toBe('a');
    expect(
      read('parley_session=a', { ...http, 'x-forwarded-host': 'parley.example' }),
    ).toBeUndefined();
    for (const name of ['\u00a0parley_session', 'parley_session\u00a0', 'Parley_session'])
      expect(read(`${name}=planted`, http)).toBeUndefined();
  });

  it('has no value when its name is sent twice: another port of the machine may have planted one of them', () => {
    expect(read('parley_session=planted; parley_session=own', http)).toBeUndefined();
  });
});

describe('requireSameSite', () => {
  const codeOf = (headers: IncomingMessage['headers']) => {
    try {
      requireSameSite(requestOf({ ...https, ...headers }));
      return 'ok';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it.each<[string, IncomingMessage['headers']]>([
    ['of the same origin', { 'sec-fetch-site': 'same-origin' }],
    ['that the person entered', { 'sec-fetch-site': 'none' }],
    [
      'of the same origin with both headers',
      { 'sec-fetch-site': 'same-origin', origin: 'https://parley.example' },
    ],
    ['of an older browser', { origin: 'https://parley.example' }],
    ['of another writing of the host', { origin: 'HTTPS://Parley.Example:443' }],
  ])('admits a change %s', (_which, headers) => {
    expect(codeOf(headers)).toBe('ok');
  });

  it.each<[string, IncomingMessage['headers']]>([
    ['without a header', {}],
    ['of another site', { 'sec-fetch-site': 'cross-site' }],
    ['of a sibling host', { 'sec-fetch-site': 'same-site', origin: 'https://parley.example' }],
    ['with an unknown value', { 'sec-fetch-site': 'SAME-ORIGIN' }],
    ['with two values', { 'sec-fetch-site': 'same-origin, cross-site' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of another port', { origin: 'https://parley.example:8443' }],
    ['of a host that begins with ours', { origin: 'https://parley.example.evil.example' }],
    ['of a sandboxed page', { origin: 'null' }],
    ['with an empty origin', { origin: '' }],
    [
      'of another origin, whose Sec-Fetch-Site says otherwise',
      { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
    ],
    [
      'of another origin that says none',
      { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
    ],
    [
      'of a sandboxed page, whose Sec-Fetch-Site says otherwise',
      { 'sec-fetch-site': 'same-origin', origin: 'null' },
    ],
  ])('refuses a change %s', (_which, headers) => {
    expect(codeOf(headers)).toBe('cross_site');
  });
});
