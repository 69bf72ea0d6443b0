import { z } from 'zod';
import { readSentinels, redisVariables } from './redis-address';

test('an address of one server is left to the client, with any password', () => {
  for (const url of ['redis://localhost:6379', 'rediss://user:p@host/1', 'redis://:a,b/c@host']) {
    expect(readSentinels(url)).toBeNull();
    expect(z.object(redisVariables).parse({ REDIS_URL: url })).toEqual({ REDIS_URL: url });
  }
});

test('an address of sentinels has their hosts, the name of the primary, and separate passwords', () => {
  expect(readSentinels('redis-sentinel://a:1,[::1]:2,c/main')).toEqual({
    name: 'main',
    sentinels: [
      { host: 'a', port: 1 },
      { host: '::1', port: 2 },
      { host: 'c', port: 26_379 },
    ],
  });
  expect(
    readSentinels(
      'rediss-sentinel://user:p%40:%2F@a/my%20main?db=3&sentinelUsername=s&sentinelPassword=%26',
    ),
  ).toEqual({
    name: 'my main',
    sentinels: [{ host: 'a', port: 26_379 }],
    db: 3,
    username: 'user',
    password: 'p@:/',
    sentinelUsername: 's',
    sentinelPassword: '&',
    tls: {},
    enableTLSForSentinelMode: true,
    sentinelTLS: {},
  });
  expect(readSentinels('redis-sentinel://:p@a/main')).toMatchObject({
    username: undefined,
    password: 'p',
  });
});

test.each([
  ['http://SECRET', /^must be redis:.* or redis-sentinel:/],
  ['redis://:SECRET@a:1,b:2', /^has several addresses\. Use redis-sentinel:/],
  ['redis-sentinel://:SECRET@a,b', /^must be redis:.* or redis-sentinel:/],
  ['redis-sentinel://:SECRET@a,b/main/0', /^must be/],
  ['redis-sentinel://a:1,b:SECRET,c/main', /^has no valid host:port at position 2$/],
  ['redis-sentinel://a:1,,c/main', /^has no valid host:port at position 2$/],
  ['redis-sentinel://a/main?db=SECRET', /^has an invalid option: db: must be a number$/],
  [
    'redis-sentinel://a/main?password=SECRET',
    /^has an invalid option: password: is not a known field$/,
  ],
  ['redis-sentinel://:SECRET%@a/main', /^URI malformed$/],
])('%s is refused without its values', (url, problem) => {
  const { error } = z.object(redisVariables).safeParse({ REDIS_URL: url });
  expect(error?.issues[0]?.message).toMatch(problem);
  expect(error?.issues[0]?.message).not.toContain('SECRET');
});
