import { type Server, createServer } from 'node:http';
import { rounds } from '@parley/testing';
import {
  type Answer,
  type TestExecutor,
  listen,
  startTestExecutor,
} from '../../testing/start-test-executor';
import { constructorChains } from '../../testing/escapes/constructor-chains';
import { engine } from '../../testing/escapes/engine';
import { mutants } from '../../testing/escapes/mutants';
import { network } from '../../testing/escapes/network';
import { platform } from '../../testing/escapes/platform';
import { prelude } from '../../testing/escapes/prelude';
import { type Control, type Program, use } from '../../testing/escapes/program';
import { proxies } from '../../testing/escapes/proxies';
import { type NaiveSandbox, startNaiveSandbox } from '../../testing/escapes/start-naive-sandbox';
import { throwsAndCallbacks } from '../../testing/escapes/throws-and-callbacks';

/*
 * Programs that try to escape, by the known classes of escapes, and mutants of them. None may
 * succeed in this sandbox. In a naive sandbox with node:vm the same program succeeds, which shows
 * that a success would be noticed. Another search:
 * PARLEY_ESCAPE_SEED=7.
 */

const planted = 'planted-secret-of-the-host';
const mutantCount = rounds(150, 20_000);
const seed = Number(process.env.PARLEY_ESCAPE_SEED ?? 1);

let service: TestExecutor;
let naive: NaiveSandbox;
let inside: Server;
let insideUrl: string;
const reached: string[] = [];

beforeAll(async () => {
  process.env.PARLEY_PLANTED_SECRET = planted;
  inside = createServer((request, response) => {
    reached.push(`${request.url} ${request.headers.authorization}`);
    response.writeHead(request.headers.authorization === 'Bearer call-token' ? 200 : 401);
    response.end(JSON.stringify({ ok: true, result: 'fine' }));
  });
  insideUrl = await listen(inside);
  [service, naive] = await Promise.all([
    startTestExecutor({ chatUrl: insideUrl }),
    startNaiveSandbox(planted),
  ]);
});
afterAll(async () => {
  delete process.env.PARLEY_PLANTED_SECRET;
  await Promise.all([service.close(), naive.close()]);
  inside.closeAllConnections();
  inside.close();
});
beforeEach(() => void (reached.length = 0));

const written: Program[] = [
  ...constructorChains,
  ...throwsAndCallbacks,
  ...proxies,
  ...platform,
  ...prelude,
  ...network,
  ...engine,
];
const generated = mutants(mutantCount, seed);

const tryOut = (code: string): Promise<Answer> =>
  service.run(use + code, {
    timeoutMs: 1500,
    args: { list: [1, 2], chat: insideUrl },
    context: { who: 'me' },
    callback: { token: 'call-token' },
  });

/** Signs of a successful escape in an answer; empty when there are none. */
function harmOf({ status, body }: Answer): string[] {
  const text = JSON.stringify(body);
  const signs = ['"result":"escaped', planted, 'root:'].filter((sign) => text.includes(sign));
  return [200, 500].includes(status) ? signs : [...signs, `status ${status}`];
}

/** Requests other than tool calls with their token, which every handler may make. */
const unexpected = (): string[] =>
  reached.filter((request) => request !== '/internal/tool-calls Bearer call-token');

it('the corpus has at least 200 programs that escape from a naive sandbox', () => {
  const all = [...written, ...generated];
  expect(all.filter(([, , control]) => control !== null).length).toBeGreaterThanOrEqual(200);
  expect(new Set(all.map(([, code]) => code)).size).toBe(all.length);
});

it.each(written)('%s does not escape', async (_name, code, control) => {
  expect(harmOf(await tryOut(code))).toEqual([]);
  // State that a call leaves behind would be visible to the next call in the same process.
  if (control === 'twice')
    for (let round = 0; round < 3; round++) expect(harmOf(await tryOut(code))).toEqual([]);
  expect(unexpected()).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

it('mutants do not escape', async () => {
  const harmful: string[] = [];
  for (const [name, code] of generated) {
    const harm = harmOf(await tryOut(code));
    if (harm.length > 0) harmful.push(`${name}: ${harm.join()}`);
  }
  expect(harmful).toEqual([]);
  expect(unexpected()).toEqual([]);
}, 3_600_000);

it('the service still works after all programs', async () => {
  for (let round = 0; round < 8; round++)
    expect(
      (await service.run('return [typeof left, args.n]', { args: { n: 1 } })).body.result,
    ).toEqual(['undefined', 1]);
});

describe('control: escapes from a naive sandbox', () => {
  const runNaively = (code: string, control: Control) =>
    naive.run(use + code, control, { chat: insideUrl });

  it.each(written.filter(([, , control]) => control !== null))(
    '%s',
    async (_name, code, control) => {
      expect(await runNaively(code, control!)).toMatch(/^escaped/);
    },
  );

  it('every mutant, with the secret', async () => {
    const kept: string[] = [];
    for (const [name, code, control] of generated) {
      const found = await runNaively(code, control!);
      if (!found.startsWith('escaped') || !found.includes(planted)) kept.push(`${name}: ${found}`);
    }
    expect(kept).toEqual([]);
  }, 3_600_000);
});
