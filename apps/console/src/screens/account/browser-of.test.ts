import { browserOf } from './browser-of';

const mozilla = 'Mozilla/5.0';
const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const apple = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

test.each([
  [
    `${mozilla} (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36`,
    'Chrome',
    'Windows',
  ],
  [
    `${mozilla} (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0 Safari/537.36 Edg/142.0`,
    'Edge',
    'Windows',
  ],
  [
    `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Chrome/142.0 Safari/537.36 OPR/124.0`,
    'Opera',
    'macOS',
  ],
  [
    `${mozilla} (Macintosh; Intel Mac OS X 10_15_7) ${apple} Version/18.0 Safari/605.1.15`,
    'Safari',
    'macOS',
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${apple} Version/18.0 Mobile/15E148 Safari/604.1`,
    'Safari',
    'iOS',
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${apple} CriOS/142.0 Mobile/15E148 Safari/604.1`,
    'Chrome',
    'iOS',
  ],
  [
    `${mozilla} (iPhone; CPU iPhone OS 18_0 like Mac OS X) ${apple} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`,
    'Firefox',
    'iOS',
  ],
  [
    `${mozilla} (iPad; CPU OS 18_0 like Mac OS X) ${apple} Version/18.0 EdgiOS/142.0 Mobile/15E148 Safari/604.1`,
    'Edge',
    'iOS',
  ],
  [
    `${mozilla} (Linux; Android 15; SM-S921B) ${webkit} SamsungBrowser/28.0 Chrome/130.0 Mobile Safari/537.36`,
    'Samsung Internet',
    'Android',
  ],
  [
    `${mozilla} (Linux; Android 10; K) ${webkit} Chrome/142.0 Mobile Safari/537.36 EdgA/142.0`,
    'Edge',
    'Android',
  ],
  [`${mozilla} (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0`, 'Firefox', 'Linux'],
  [
    `${mozilla} (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/142.0 Safari/537.36`,
    'Chrome',
    'ChromeOS',
  ],
  [
    `${mozilla} (X11; Linux x86_64) ${webkit} HeadlessChrome/142.0 Safari/537.36`,
    'Chrome',
    'Linux',
  ],
])('%s', (userAgent, browser, system) => {
  expect(browserOf(userAgent)).toEqual({ browser, system });
});

test.each([
  '',
  'curl/8.5.0',
  'Chrome/142.0',
  '(Windows NT 10.0)',
  'ChromeX/1 Windowsish',
  '<script>alert(1)</script>',
])('a part of %j is unknown', (userAgent) => {
  expect(browserOf(userAgent)).toBeNull();
});
