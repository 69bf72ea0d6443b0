import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { installCommand } from './install-packages';
import { type PseudoTerminal, openPseudoTerminal } from './pseudo-terminal';
import { shared } from './stack';
import { type Tenant, createTenant } from './tenant';
import { runFile } from './command-line';

jest.setTimeout(180_000);

let tenant: Tenant;
let env: Record<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'parley-terminal-'));
const bin = join(folder, 'node_modules', '.bin');
const opened: PseudoTerminal[] = [];

beforeAll(async () => {
  tenant = await createTenant();
  env = {
    PATH: `${bin}:${process.env.PATH}`,
    PARLEY_URL: shared.url,
    PARLEY_API_KEY: (await tenant.client()).key,
    PARLEY_PRODUCTION_API_KEY: (await tenant.client({ environment: 'production' })).key,
  };
  await installCommand(folder);
  write({
    'shop/agents/helper.ts': agent('Helper'),
    'shop/entity-types/product.json': JSON.stringify({
      slug: 'product',
      name: 'Product',
      schema: { name: 'string' },
    }),
  });
}, 240_000);
afterEach(() => opened.splice(0).forEach((terminal) => terminal.kill()));
afterAll(async () => {
  await tenant.close();
  rmSync(folder, { recursive: true, force: true });
});

const agent = (name: string, more = '') => `import { defineAgent } from '@parley/definitions';
export default defineAgent({ slug: 'helper', name: '${name}', systemPrompt: 'You help.' ${more} });`;

function write(files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

function open(line: string, more: Record<string, string> = {}): PseudoTerminal {
  const terminal = openPseudoTerminal(line, { cwd: folder, env: { ...env, ...more } });
  opened.push(terminal);
  return terminal;
}

const parley = (args: string[], more: Record<string, string> = {}) =>
  runFile(join(bin, 'parley'), args, { cwd: folder, env: { ...env, ...more } });

describe('deploy', () => {
  const version = async (environment: string) => {
    const key = {
      PARLEY_API_KEY:
        environment === 'production' ? env.PARLEY_PRODUCTION_API_KEY! : env.PARLEY_API_KEY!,
    };
    return (
      JSON.parse((await parley(['status', 'shop', '--json'], key)).stdout) as { version: number }
    ).version;
  };

  test.each([
    ['no', 'n'],
    ['Enter, as no is the default', '\r'],
    ['Ctrl-C', '\x03'],
    ['Escape', '\x1b'],
  ])('asks in a terminal, and deploys nothing after %s', async (_name, keys) => {
    const terminal = open('exec parley deploy shop');
    const asked = await terminal.shows('Deploy to production at');
    expect(stripVTControlCharacters(asked)).toContain('+ helper');
    terminal.type(keys);
    expect(await terminal.ended).toBe(1);
    expect(terminal.output).toContain('error: Nothing was deployed');
    expect(await version('production')).toBe(0);
  });

  test('without a terminal is refused, with a hint at --yes', async () => {
    const { code, stderr } = await parley(['deploy', 'shop']);
    expect([code, stderr]).toEqual([
      2,
      'error: Cannot ask for confirmation without a terminal. Use --yes to deploy without it\n',
    ]);
    expect(await version('production')).toBe(0);
  });

  test('deploys after yes', async () => {
    const terminal = open('exec parley deploy shop');
    await terminal.shows('Deploy to production at');
    terminal.type('y');
    expect(await terminal.ended).toBe(0);
    expect(terminal.output).toContain('Deployed: 2 created; production is at version 1.');
    expect(await version('production')).toBe(1);
  });
});

describe('the output in a terminal', () => {
  /** Eight requests of an import. */
  const rowCount = 4_000;
  const rows = (name: string) =>
    write({
      [name]: ['name', ...Array.from({ length: rowCount }, (_, at) => `Item ${at}`)].join('\n'),
    });
  beforeAll(async () => {
    expect(await parley(['push', 'shop'])).toMatchObject({ code: 0 });
  });

  test('has a progress bar during an import, and colours', async () => {
    rows('seen.csv');
    const terminal = open('exec parley data import product seen.csv');
    expect(await terminal.ended).toBe(0);
    expect(terminal.output).toContain('\x1b[?25l'); // it hides the cursor while it draws
    expect(stripVTControlCharacters(terminal.output)).toMatch(
      /Importing into product: \d+ of 4000/,
    );
    expect(terminal.output).toMatch(/\x1b\[3\dm/);
    expect(stripVTControlCharacters(terminal.output)).toContain(
      'Imported 4000 of 4000 rows into product.',
    );
  });

  test('has no progress bar and no escape sequences when it is piped', async () => {
    rows('piped.csv');
    const { code, stdout, stderr } = await parley(['data', 'import', 'product', 'piped.csv']);
    // An import that takes longer reports its progress in whole lines.
    const reports = /^Importing into product: \d+ of 4000\n/gm;
    expect([code, stdout, stderr.replaceAll(reports, '')]).toEqual([
      0,
      'Imported 4000 of 4000 rows into product.\n',
      'Imported all 4000 rows\n',
    ]);
  });

  test('has no colours with NO_COLOR', async () => {
    rows('plain.csv');
    for (const line of ['exec parley data import product plain.csv', 'exec parley status shop']) {
      const terminal = open(line, { NO_COLOR: '1' });
      expect(await terminal.ended).toBe(0);
      expect(terminal.output).not.toMatch(/\x1b\[[0-9;]*[1-9][0-9;]*m/);
    }
    const coloured = open('exec parley status shop');
    expect(await coloured.ended).toBe(0);
    expect(coloured.output).toMatch(/\x1b\[\d+m/);
  });
});

describe('completion', () => {
  const zsh = ['/usr/bin/zsh', '/bin/zsh'].find((path) => existsSync(path));
  const shells: [shell: string, line: string, prepare: string][] = [
    ['bash', 'bash --norc --noprofile -i', "bind 'set show-all-if-ambiguous on'"],
  ];
  if (zsh) shells.push(['zsh', `${zsh} -f -i`, 'autoload -Uz compinit; compinit -u -D']);

  test.each(shells)(
    'completes commands, options and values in %s',
    async (shell, line, prepare) => {
      const terminal = open(line);
      terminal.type(
        `PS1='rea''dy'; ${prepare}; source <(parley completion ${shell}); echo sou''rced\n`,
      );
      await terminal.shows('sourced');
      for (const [typed, offered] of [
        ['parley pu', /pull +push/],
        ['parley data ex', 'parley data export '],
        ['parley data export --fo', /--force +--format/],
        ['parley data export --format ', /csv +jsonl/],
        ['parley data export --format=c', '=csv'],
      ] as const) {
        terminal.type(`${typed}\t`);
        await terminal.shows(offered);
        terminal.type('\x15'); // Ctrl-U clears the line
      }
      terminal.type('parley --vers\t\n');
      await terminal.shows(/\d+\.\d+\.\d+/);
    },
  );
});

test('dev keeps running after mistakes, deleted files, changed slugs and an unreachable server', async () => {
  const proxy = await startProxy(Number(new URL(shared.url).port));
  write({ 'live/agents/helper.ts': agent('Helper'), 'live/routers/desk.ts': router('helper') });
  const terminal = open('exec parley dev live', { PARLEY_URL: proxy.url, NO_COLOR: '1' });
  // Editors save a file by replacing it.
  const save = (name: string, content: string) => {
    write({ [`live/${name}.new~`]: content });
    renameSync(join(folder, `live/${name}.new~`), join(folder, 'live', name));
  };
  try {
    await terminal.shows(/version \d+/);
    save('agents/helper.ts', agent('Helper').replace("'You help.'", "'You help."));
    await terminal.shows('agents/helper.ts: line 2: Unterminated string literal');
    save('agents/helper.ts', agent('Helper', ', sytemPrompt: 1'));
    await terminal.shows('agents/helper.ts: helper: sytemPrompt is not a known field');
    save('agents/helper.ts', agent('Helper', ", tools: ['nope']"));
    await terminal.shows('agents/helper.ts: helper: tools.0 unknown tool "nope"');
    save('agents/helper.ts', 'process.exit(3);');
    await terminal.shows('agents/helper.ts: calls process.exit(3) when it is loaded');
    save('agents/helper.ts', `setTimeout(() => { throw new Error('later') });\n${agent('Later')}`);
    await terminal.shows(/error: later[^]*"Helper" → "Later"/);

    save('agents/helper.ts', agent('Later').replace("slug: 'helper'", "slug: 'friend'"));
    await terminal.shows(
      /\+ friend[^]*and kept: agents helper\. --prune would fail: [^]*unknown agent "helper"/,
    );
    save('routers/desk.ts', router('friend'));
    await terminal.shows('fallback: "helper" → "friend"');
    rmSync(join(folder, 'live/routers/desk.ts'));
    await terminal.shows('and kept: agents helper, routers desk.');
    rmSync(join(folder, 'live/routers'), { recursive: true });
    await terminal.shows('and kept: agents helper. --prune');
    write({ 'live/routers/desk.ts': router('friend') });
    await terminal.shows('nothing to change');

    await proxy.close();
    save('agents/helper.ts', agent('Back').replace("slug: 'helper'", "slug: 'friend'"));
    await terminal.shows(/Cannot connect[^]*Retrying every 3 s/);
    await proxy.open();
    await terminal.shows('"Later" → "Back"');
    terminal.type('\x03');
    expect(await terminal.ended).toBe(0);
  } finally {
    await proxy.close();
  }
});

const router = (slug: string) => `import { defineRouter } from '@parley/definitions';
export default defineRouter({ slug: 'desk', name: 'Desk', mode: 'rules', agents: ['${slug}'], fallback: '${slug}' });`;

/** A TCP proxy to the gateway that can be closed and opened again at the same address. */
async function startProxy(
  port: number,
): Promise<{ url: string; open(): Promise<void>; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let ownPort = 0;
  const open = async () => {
    server = createServer((socket) => {
      const inner = connect(port, '127.0.0.1');
      for (const one of [socket, inner]) {
        sockets.add(one);
        one.on('error', () => {}).on('close', () => sockets.delete(one));
      }
      socket.pipe(inner).pipe(socket);
    }).listen(ownPort, '127.0.0.1');
    await new Promise((listening) => server!.once('listening', listening));
    ownPort = (server.address() as { port: number }).port;
  };
  await open();
  return {
    url: `http://127.0.0.1:${ownPort}`,
    open,
    async close() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise((closed) => (server ? server.close(closed) : closed(undefined)));
      server = undefined;
    },
  };
}
