import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import ts from 'typescript';
import { openBrowser } from './open-browser';
import { assistant, catalog } from './catalog';
import { push } from './client';
import { installPackages, packPackages, root } from './install-packages';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';

jest.setTimeout(180_000);

let tenant: Tenant;
let key: string;
let folder: string;
let installed: string;
beforeAll(async () => {
  tenant = await createTenant();
  const client = await tenant.client();
  key = client.key;
  await push(client, catalog);
  folder = mkdtempSync(join(tmpdir(), 'parley-client-'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  await installPackages(folder, await packPackages('client'));
  installed = join(folder, 'node_modules', '@parley', 'client');
}, 180_000);
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

test('the package contains the expected files, has no dependencies and is small', () => {
  expect(readdirSync(installed).sort()).toEqual(
    [
      'README.md',
      'index.cjs',
      'index.d.cts',
      'index.d.mts',
      'index.mjs',
      'manage.cjs',
      'manage.d.cts',
      'manage.d.mts',
      'manage.mjs',
      'package.json',
      ...(existsSync(join(root, 'LICENSE')) ? ['LICENSE'] : []),
    ].sort(),
  );
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  expect([manifest.name, manifest.dependencies, manifest.sideEffects]).toEqual([
    '@parley/client',
    undefined,
    false,
  ]);
  for (const file of ['index.mjs', 'index.cjs', 'manage.mjs', 'manage.cjs']) {
    const code = readFileSync(join(installed, file));
    expect(gzipSync(code).length).toBeLessThan(5_000);
    expect(code.toString()).not.toMatch(/\brequire\(|\bimport\s*\(|from\s*["']|node:|process\./);
  }
});

const typed = `
  interface Shop { product: { name: string; price: number } }
  const client = new ParleyClient<Shop>({ apiKey: 'k', baseUrl: 'http://x' });
  export const found: Promise<string> = client.data.query('product', { filters: { 'data.price': { $lt: 3 } } })
    .then((page) => page.data[0]!.data.name);
  // @ts-expect-error -- no such type
  void client.data.list('products');
  const manage = createManageClient(client);
  export const names: Promise<string>[] = [manage.getOrganization().then(({ name }) => name)];
  export const threads: AsyncGenerator<{ state: string }> = iterate(manage.listThreads, { state: 'human' });
  // @ts-expect-error -- no such state
  void manage.listThreads({ state: 'robot' });
  export const isOurs = (error: unknown): boolean => error instanceof ParleyApiError && error.status === 404;
`;

const imports = `import { ParleyApiError, ParleyClient } from '@parley/client';
import { createManageClient, iterate } from '@parley/client/manage';`;
const requires = `import client_ = require('@parley/client');
import manage_ = require('@parley/client/manage');
import ParleyClient = client_.ParleyClient;
import ParleyApiError = client_.ParleyApiError;
import createManageClient = manage_.createManageClient;
import iterate = manage_.iterate;`;

test.each([
  ['ESM in Node', 'a.mts', imports, 'node16', 'node16'],
  ['CommonJS in Node', 'b.cts', imports, 'node16', 'node16'],
  ['CommonJS in Node, by require', 'c.cts', requires, 'nodenext', 'nodenext'],
  ['a bundler', 'd.ts', imports, 'esnext', 'bundler'],
  ['an old resolver', 'e.ts', imports, 'commonjs', 'node10'],
])('the types are found and correct with %s', (_name, file, head, module, resolution) => {
  writeFileSync(join(folder, file), head + typed);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    skipDefaultLibCheck: true,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    module,
    moduleResolution: resolution,
  };
  expect(compile({ compilerOptions, files: [file] })).toBe('');
});

/** The errors of the compiler. The libraries of the language are read once for all programs. */
function compile(settings: object): string {
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(settings, ts.sys, folder);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getCurrentDirectory = () => folder;
  host.getSourceFile = (name, ...rest) => {
    if (!basename(name).startsWith('lib.')) return getSourceFile(name, ...rest);
    const source = languageLibraries.get(name) ?? getSourceFile(name, ...rest);
    languageLibraries.set(name, source);
    return source;
  };
  const program = ts.createProgram(fileNames, options, host);
  return ts.formatDiagnostics([...errors, ...ts.getPreEmitDiagnostics(program)], host);
}
const languageLibraries = new Map<string, ts.SourceFile | undefined>();

/** Makes every call of the client once, against the running gateway, in Node and in a browser. */
const callAll = `
  async function callAll({ ParleyClient, ParleyApiError }, apiKey, baseUrl) {
    const client = new ParleyClient({ apiKey, baseUrl });
    const { data: types } = await client.entityTypes();
    const made = await client.data.create('product', { data: { name: 'Lamp of a client', price: 5 } });
    const updated = await client.data.update('product', made.id, { data: { price: 6 } });
    const got = await client.data.get('product', made.id);
    const queried = await client.data.query('product', { filters: { id: made.id, 'data.price': { $gte: 6 } } });
    const ids = [];
    for await (const { id } of client.data.iterate('product', { filters: { 'data.name': 'Lamp of a client' }, limit: 1 })) ids.push(id);
    const { data: found } = await client.data.search('product', { query: 'lamp of' });
    const listed = await client.data.list('product', { limit: 1 });
    const reply = await client.chat({ agentSlug: '${assistant.slug}', message: 'Hello' });
    const deleted = await client.data.delete('product', made.id);
    const error = await client.data.get('product', made.id).catch((thrown) => thrown);
    return {
      types: types.map(({ slug }) => slug).sort(), price: updated.data.price, same: got.id === made.id,
      queried: queried.data.length, iterated: ids.includes(made.id), found: found.length > 0, listed: listed.data.length,
      thread: reply.threadId.length > 0, deleted: deleted.success,
      error: [error instanceof ParleyApiError, error.status, error.code, error.message, typeof error.requestId],
    };
  }`;
const expected = {
  types: ['order', 'product'],
  price: 6,
  same: true,
  queried: 1,
  iterated: true,
  found: true,
  listed: 1,
  thread: true,
  deleted: true,
  error: [true, 404, 'entity_deleted', 'Entity has been deleted', 'string'],
};

test.each([
  ['ESM', 'call-all.mjs', "import * as client from '@parley/client';"],
  ['CommonJS', 'call-all.cjs', "const client = require('@parley/client');"],
])('works in Node as %s', async (_name, file, head) => {
  const end = `callAll(client, ...process.argv.slice(2)).then((result) => console.log(JSON.stringify(result)));`;
  writeFileSync(join(folder, file), `${head}\n${callAll}\n${end}`);
  const { stdout } = await promisify(execFile)(process.execPath, [file, key, shared.url], {
    cwd: folder,
  });
  expect(JSON.parse(stdout)).toEqual(expected);
});

test('works in a browser, from a page of another origin', async () => {
  const chrome = await openBrowser();
  if (chrome === null) return;
  const page = `<!doctype html><meta charset="utf-8"><title>t</title><script type="module">
    import * as client from '/index.mjs';
    ${callAll}
    window.callAll = (apiKey, baseUrl) => callAll(client, apiKey, baseUrl);
    window.aborted = (apiKey, baseUrl) => new client.ParleyClient({ apiKey, baseUrl })
      .entityTypes({ signal: AbortSignal.abort() }).catch((error) => error.name);
  </script>`;
  const server = createServer((request, response) => {
    if (request.url === '/index.mjs') {
      response
        .setHeader('Content-Type', 'text/javascript')
        .end(readFileSync(join(installed, 'index.mjs')));
    } else response.setHeader('Content-Type', 'text/html').end(page);
  }).listen(0, '127.0.0.1');
  await new Promise((listening) => server.once('listening', listening));
  try {
    const tab = await chrome.newPage();
    const complaints: string[] = [];
    tab.on('pageerror', (error) => complaints.push(error.message));
    await tab.goto(origin(server));
    await tab.waitForFunction('window.callAll !== undefined');
    const call = (name: string) =>
      tab.evaluate(`window.${name}(${JSON.stringify(key)}, ${JSON.stringify(shared.url)})`);
    expect(await call('callAll')).toEqual(expected);
    expect(await call('aborted')).toBe('AbortError');
    expect(complaints).toEqual([]);

    // The API documentation is readable without scripts.
    const refused: string[] = [];
    tab.on('console', (message) => message.type() === 'error' && refused.push(message.text()));
    tab.on(
      'request',
      (request) => !request.url().startsWith(shared.url) && refused.push(request.url()),
    );
    await tab.goto(`${shared.url}/docs`);
    expect(await tab.locator('article#queryEntities').isVisible()).toBe(true);
    expect(await tab.evaluate("getComputedStyle(document.querySelector('nav')).position")).toBe(
      'sticky',
    );
    expect(refused.filter((text) => !text.includes('favicon'))).toEqual([]);
  } finally {
    await chrome.close();
    server.close();
  }
});

const origin = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
