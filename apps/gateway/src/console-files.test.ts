import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import supertest from 'supertest';
import { type TestGateway, startGateway } from './gateway-under-test';

const page = '<!doctype html><script type="module" src="/console/assets/index-a1.js"></script>';
const script = 'console.log("a script that is long enough to be compressed")'.repeat(20);

let parent: string;
let gateway: TestGateway;
beforeAll(async () => {
  parent = mkdtempSync(join(tmpdir(), 'parley-console-'));
  gateway = await startGateway({}, { consoleFolder: join(parent, 'console') });
});
afterAll(async () => {
  await gateway.close();
  rmSync(parent, { recursive: true, force: true });
});

/**
 * Builds a version of the console as tools/build-console.mjs does: beside the folder, and
 * then in its place.
 */
function build(html: string, assets: Record<string, string>): void {
  const [folder, next] = [join(parent, 'console'), join(parent, 'next')];
  mkdirSync(join(next, 'assets'), { recursive: true });
  const files = { 'index.html': html, 'icon.svg': '<svg/>', ...assets };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(next, name), text);
    writeFileSync(join(next, `${name}.gz`), gzipSync(text));
    writeFileSync(join(next, `${name}.br`), brotliCompressSync(text));
  }
  writeFileSync(join(next, 'assets', 'plain-b2.png'), 'png');
  rmSync(folder, { recursive: true, force: true });
  renameSync(next, folder);
}

const get = (path: string, headers: Record<string, string> = {}) =>
  supertest(gateway.url).get(path).set(headers);

test('until it is built the console says so, asks again, and is kept by no browser', async () => {
  for (const path of ['/console/', '/console/demo/development', '/console/assets/index-a1.js']) {
    const { status, headers, text } = await get(path);
    expect([path, status, headers['retry-after'], headers['cache-control']]).toEqual([
      path,
      503,
      '2',
      'no-store',
    ]);
    expect(text).toContain('http-equiv="refresh"');
  }
  build(page, { 'assets/index-a1.js': script });
  await get('/console/').expect(200);
});

test('browsers are led to it from the address of the gateway, and programs are not', async () => {
  const browser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  await get('/', browser).expect(302).expect('Location', '/console/');
  await get('/console', browser).expect(308).expect('Location', '/console/');
  await get('/', { Accept: 'application/json' }).expect(404);
  await get('/').expect(404);
  await get('/consoles', browser).expect(404);
});

test('all screens are its page, which is asked for again each time and runs only scripts of its own', async () => {
  for (const path of [
    '/console/',
    '/console/demo/development/data/order?sort=total',
    '/console/x/y/z.html',
  ]) {
    const { status, headers, text } = await get(path);
    expect([path, status, text]).toEqual([path, 200, page]);
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; connect-src 'self'; manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    });
    await get(path, { 'If-None-Match': headers.etag! }).expect(304);
  }
});

test('files are sent as they were compressed by the build, and kept for a year', async () => {
  const bytes = async (encoding: string) => {
    const response = await fetch(`${gateway.url}/console/assets/index-a1.js`, {
      headers: { 'Accept-Encoding': encoding },
    });
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('vary')).toBe('Accept-Encoding');
    return [response.headers.get('content-encoding'), await response.text()];
  };
  expect(await bytes('gzip, deflate, br')).toEqual(['br', script]);
  expect(await bytes('gzip')).toEqual(['gzip', script]);
  expect(await bytes('br;q=0, gzip')).toEqual(['gzip', script]);
  expect(await bytes('identity')).toEqual([null, script]);
  await get('/console/icon.svg').expect(200).expect('Content-Type', 'image/svg+xml');
  const head = await supertest(gateway.url).head('/console/assets/plain-b2.png').expect(200);
  expect(head.headers).toMatchObject({ 'content-type': 'image/png', 'content-length': '3' });
});

test('nothing outside of its folder is read, and only reads are answered', async () => {
  writeFileSync(join(parent, 'secret.txt'), 'secret');
  for (const path of [
    '/console/assets/../../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/assets/..%2fsecret.txt',
  ])
    expect((await get(path)).text).not.toContain('secret');
  await get('/console/assets/none-c3.js').expect(404);
  await get('/console/assets/index-a1.js.br')
    .expect(200)
    .expect('Content-Type', 'application/octet-stream');
  await supertest(gateway.url).post('/console/').expect(405).expect('Allow', 'GET, HEAD');
});

test('a new build is served at once', async () => {
  await get('/console/').expect(200);
  build(page.replace('a1', 'd4'), { 'assets/index-d4.js': 'new' });
  expect((await get('/console/')).text).toContain('index-d4.js');
  await get('/console/assets/index-d4.js').expect(200, 'new');
  await get('/console/assets/index-a1.js').expect(404);
});
