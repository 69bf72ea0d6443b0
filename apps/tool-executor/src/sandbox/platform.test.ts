import { createHash } from 'node:crypto';
import { sandboxGlobals } from '@parley/contracts';
import { type TestExecutor, startTestExecutor } from '../../testing/start-test-executor';

let service: TestExecutor;
beforeAll(async () => {
  service = await startTestExecutor();
});
afterAll(() => service.close());

const valueOf = async (code: string, more: object = {}): Promise<unknown> => {
  const { body } = await service.run(code, { timeoutMs: 2000, ...more });
  return 'error' in body ? `! ${String(body.error)}` : body.result;
};

it.each<[string, unknown]>([
  [
    'const u = new URL("/a b?x=1&x=2#h", "https://user:p@EXAMPLE.com:444"); return [u.href, u.host, u.origin, u.hash]',
    [
      'https://user:p@example.com:444/a%20b?x=1&x=2#h',
      'example.com:444',
      'https://example.com:444',
      '#h',
    ],
  ],
  [
    'const u = new URL("http://a.b/?x=1"); u.searchParams.append("y", "ä &"); u.pathname = "/p"; return `${u}`',
    'http://a.b/p?x=1&y=%C3%A4+%26',
  ],
  [
    'const u = new URL("http://a.b/?x=1"); const p = u.searchParams; u.search = "?z=3"; return [p.get("z"), p.has("x"), p.size]',
    ['3', false, 1],
  ],
  ['const u = new URL("http://a.b/"); u.href = "http://c.d/"; return u.host', 'c.d'],
  ['return new URL("nonsense")', '! Invalid URL: nonsense'],
  ['return [URL.canParse("http://a"), URL.canParse("a"), URL.parse("a")]', [true, false, null]],
  [
    'const p = new URLSearchParams({ a: 1, b: "x y" }); p.set("a", 2); p.delete("b"); p.append("c", "1"); p.sort(); return [`${p}`, [...p]]',
    [
      'a=2&c=1',
      [
        ['a', '2'],
        ['c', '1'],
      ],
    ],
  ],
  ['return JSON.stringify(new URL("http://a.b"))', '"http://a.b/"'],
  ['return [btoa("h\\xe9"), atob(" aOk= "), atob("aOk")]', ['aOk=', 'h\u00e9', 'h\u00e9']],
  ['try { atob("a$") } catch (e) { return e.message }', 'The text is not valid base64'],
  [
    'try { btoa("\\u20ac") } catch (e) { return e.message }',
    'The text has characters outside of Latin1',
  ],
  ['return [...new TextEncoder().encode("aé€😀")]', [...Buffer.from('aé€😀')]],
  [
    'return new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0xc3, 0xa9, 0xff]))',
    'é\ufffd',
  ],
  ['return new TextDecoder().decode(new Uint8Array([1, 0xc3, 0xa9]).subarray(1))', 'é'],
  [
    'try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name }',
    'TypeError',
  ],
  ['try { new TextDecoder("klingon") } catch (e) { return e.name }', 'RangeError'],
  ['return new TextDecoder("latin1").encoding', 'windows-1252'],
  [
    'const b = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("abc")); return [...new Uint8Array(b)].slice(0, 3)',
    [...createHash('sha256').update('abc').digest()].slice(0, 3),
  ],
  [
    'try { await crypto.subtle.digest("MD5", new Uint8Array()) } catch (e) { return e.message }',
    'Unrecognized algorithm: MD5',
  ],
  [
    'try { await crypto.subtle.digest("constructor", new Uint8Array()) } catch (e) { return e.message }',
    'Unrecognized algorithm: constructor',
  ],
  [
    'return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())',
    true,
  ],
  ['const a = crypto.getRandomValues(new Uint32Array(4)); return a.some((n) => n !== 0)', true],
  [
    'try { crypto.getRandomValues(new Uint8Array(70000)) } catch (e) { return e.name }',
    'RangeError',
  ],
  [
    'const a = structuredClone({ d: new Date(5), m: new Map([["k", { s: new Set([1]) }]]), u: new Uint8Array([1, 2]), e: new RangeError("x") }); return [a.d.getTime(), a.m.get("k").s.has(1), a.u[1], a.e instanceof RangeError]',
    [5, true, 2, true],
  ],
  [
    'const a = { self: null }; a.self = a; const b = structuredClone(a); return [b.self === b, b !== a]',
    [true, true],
  ],
  ['try { structuredClone(() => 1) } catch (e) { return e.name }', 'DataCloneError'],
  [
    'const order = []; setTimeout(() => order.push("t"), 1); queueMicrotask(() => order.push("m")); order.push("s"); await new Promise((r) => setTimeout(r, 20)); return order',
    ['s', 'm', 't'],
  ],
  [
    'const t = setTimeout(() => { throw 1 }, 5); clearTimeout(t); await new Promise((r) => setTimeout(r, 30)); return "quiet"',
    'quiet',
  ],
  [
    'let n = 0; await new Promise((r) => { const i = setInterval((by) => { n += by; if (n >= 6) { clearInterval(i); r() } }, 2, 2) }); return n',
    6,
  ],
  ['setTimeout("1")', '! The callback must be a function'],
  ['for (let i = 0; i < 1001; i++) setTimeout(() => {}, 1000)', '! Too many timers'],
  [
    'const c = new AbortController(); let seen = 0; c.signal.addEventListener("abort", () => seen++); c.signal.onabort = () => seen++; c.abort(); c.abort(); return [seen, c.signal.aborted, c.signal.reason.name]',
    [2, true, 'AbortError'],
  ],
  [
    'const s = AbortSignal.timeout(5); await new Promise((r) => s.addEventListener("abort", r)); return s.reason.name',
    'TimeoutError',
  ],
  [
    'const c = new AbortController(); const any = AbortSignal.any([c.signal, AbortSignal.timeout(1e6)]); c.abort("why"); return any.reason',
    'why',
  ],
  ['try { AbortSignal.abort("x").throwIfAborted() } catch (e) { return e }', 'x'],
  [
    'const r = new Response("{\\"a\\":1}", { status: 201, headers: { A: "b" } }); return [r.ok, r.headers.get("a"), await r.json(), r.bodyUsed]',
    [true, 'b', { a: 1 }, true],
  ],
  [
    'const h = new Headers({ A: 1 }); h.append("a", 2); h.set("B", 3); return [[...h], h.has("b"), h.get("c")]',
    [
      [
        ['a', '1, 2'],
        ['b', '3'],
      ],
      true,
      null,
    ],
  ],
  ['return [new Date(0).getTimezoneOffset(), Math.abs(Date.now() - args.now) < 5000]', [0, true]],
  [
    'return [typeof require, typeof process, typeof module, typeof global, typeof WebAssembly, typeof Deno, typeof std, typeof os]',
    Array(8).fill('undefined'),
  ],
  ['return Object.keys(globalThis)', []],
])('%s', async (code, expected) => {
  expect(await valueOf(code, { args: { now: Date.now() } })).toEqual(expected);
});

it('has the globals that a push assumes', async () => {
  expect(await valueOf('return Object.getOwnPropertyNames(globalThis).sort()')).toEqual(
    sandboxGlobals.toSorted(),
  );
});

it('has other random numbers in every call', async () => {
  const drawn = await Promise.all(
    Array.from({ length: 8 }, () => valueOf('return [Math.random(), crypto.randomUUID()]')),
  );
  expect(new Set(drawn.flat() as unknown[]).size).toBe(16);
  expect(drawn.every((pair) => (pair as number[])[0]! >= 0 && (pair as number[])[0]! < 1)).toBe(
    true,
  );
});

it('leaves nothing of one call to the next, whatever the call changes', async () => {
  const poison = `
    globalThis.left = args.secret; Object.prototype.left = args.secret; Array.prototype.map = () => [args.secret];
    JSON.parse = () => args.secret; Promise.prototype.then = null; Math.random = () => 4;
    globalThis.fetch = console.log = () => args.secret; Symbol.for(args.secret); delete globalThis.URL;
    globalThis.keep = 'x'.repeat(5e6) + args.secret; return 1`;
  const probe = `return [typeof left, ({}).left ?? null, [1].map((n) => n + 1), JSON.parse("[1]"), typeof URL, Math.random() < 1,
    typeof keep, String(fetch).includes("secret")]`;
  for (let round = 0; round < 12; round++) {
    await service.run(poison, { args: { secret: 'of another tenant' } });
    expect(await valueOf(probe)).toEqual([
      'undefined',
      null,
      [2],
      [1],
      'function',
      true,
      'undefined',
      false,
    ]);
  }
});

it('never exposes uninitialised memory of another call', async () => {
  const mark = 'a-mark-that-must-not-survive';
  await Promise.all(
    Array.from({ length: 8 }, () =>
      service.run(
        'const all = []; for (let i = 0; i < 20000; i++) all.push(args.mark + i); return all.length',
        {
          args: { mark },
          timeoutMs: 3000,
        },
      ),
    ),
  );
  const search = `
    const found = [];
    for (let round = 0; round < 40; round++) {
      const bytes = new Uint8Array(new ArrayBuffer(500000));
      for (let i = 0; i < bytes.length; i += 997) if (bytes[i] !== 0) found.push(bytes[i]);
    }
    return found.length`;
  const founds = await Promise.all(
    Array.from({ length: 4 }, () => valueOf(search, { timeoutMs: 8000 })),
  );
  expect(founds).toEqual([0, 0, 0, 0]);
});
