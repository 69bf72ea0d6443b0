import { readFileSync } from 'node:fs';
import { type Server, createServer } from 'node:http';
import { createContext, runInContext } from 'node:vm';
import { type TestExecutor, listen, startTestExecutor } from '../test-executor';

/*
 * Programs that look for a way out, after the known classes: each returns a text that begins with `escaped` when it
 * got what it came for. None may in the sandbox. Those marked `vm` are also run the naive way, in node:vm with host
 * objects handed in, and must succeed there: they show that the test can fail.
 */

const planted = 'planted-secret-of-the-host';
let service: TestExecutor;
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
  service = await startTestExecutor({ chatUrl: insideUrl });
});
afterAll(async () => {
  delete process.env.PARLEY_PLANTED_SECRET;
  await service.close();
  inside.closeAllConnections();
  inside.close();
});

/** Given a `Function` of the host's, takes its process. */
const use =
  'const use = (F) => { const p = F("return process")(); return "escaped to " + p.pid + " " + p.env.PARLEY_PLANTED_SECRET };\n';

type Program = [name: string, code: string, marks?: 'vm'];

const constructorChains: Program[] = [
  ['this', 'return use(this.constructor.constructor)', 'vm'],
  ['globalThis', 'return use(globalThis.constructor.constructor)', 'vm'],
  ['args', 'return use(args.constructor.constructor)', 'vm'],
  ['nested args', 'return use(args.list.constructor.constructor)', 'vm'],
  ['a method of args', 'return use(args.list.map.constructor)', 'vm'],
  ['context', 'return use(context.constructor.constructor)', 'vm'],
  ['parley', 'return use(parley.constructor.constructor)', 'vm'],
  ['a tool', 'return use(parley.entity.query.constructor)', 'vm'],
  ['the answer of a tool', 'return use((await parley.entity.query({})).constructor.constructor)', 'vm'],
  ['the promise of a tool', 'return use(parley.entity.query({}).constructor.constructor)', 'vm'],
  ['fetch', 'return use(fetch.constructor)', 'vm'],
  ['the promise of fetch', 'return use(fetch("x").constructor.constructor)', 'vm'],
  ['a response', 'return use((await fetch("x")).constructor.constructor)', 'vm'],
  ['console', 'return use(console.log.constructor)', 'vm'],
  ['a timer', 'return use(setTimeout.constructor)', 'vm'],
  ['what a timer returns', 'return use(setTimeout(() => 0, 1).constructor.constructor)', 'vm'],
  ['the prototype of args', 'return use(Object.getPrototypeOf(args).constructor.constructor)', 'vm'],
  ['the prototype of a tool', 'return use(Reflect.getPrototypeOf(parley.entity.query).constructor)', 'vm'],
  ['__proto__ of args', 'return use(args.__proto__.constructor.constructor)', 'vm'],
  ['a getter of __proto__', 'return use(args.__lookupGetter__("__proto__").constructor)', 'vm'],
  ['Function itself', 'return use(Function)'],
  ['a function of one’s own', 'return use((() => 0).constructor)'],
  ['an async function', 'return await (async () => 0).constructor("return process.pid")().then((p) => "escaped " + p)'],
  ['a generator', 'return "escaped " + [...(function* () {}).constructor("yield process.pid")()]'],
  [
    'an async generator',
    'for await (const p of (async function* () {}).constructor("yield process.pid")()) return "escaped " + p',
  ],
  [
    'a class',
    'class A extends Function { constructor() { super("return process") } } return "escaped " + new A()().pid',
  ],
  ['Reflect.construct', 'return "escaped " + Reflect.construct(Function, ["return process"])().pid'],
  ['a bound function', 'return use(parley.entity.query.bind(null).constructor)', 'vm'],
  ['Symbol.species', 'return use(args.list.filter(() => 1).constructor.constructor)', 'vm'],
];

const throwsAndCallbacks: Program[] = [
  ['an error of fetch', 'try { fetch(Symbol("x")) } catch (e) { return use(e.constructor.constructor) }', 'vm'],
  ['a rejection of fetch', 'return await fetch("fail").catch((e) => use(e.constructor.constructor))', 'vm'],
  ['a rejection of a tool', 'return await parley.fail().catch((e) => use(e.constructor.constructor))', 'vm'],
  [
    'an error of a timer',
    'try { setTimeout("not a function") } catch (e) { return use(e.constructor.constructor) }',
    'vm',
  ],
  [
    'an error deep in the host',
    'const f = () => { try { f() } catch (e) { try { fetch(1); console.log(1) } catch (x) { e = x } throw e } }; try { f() } catch (e) { return use(e.constructor.constructor) }',
  ],
  [
    'arguments of a callback',
    'return await new Promise((r) => setTimeout(function () { try { r(use(arguments.callee.caller.constructor)) } catch (e) { r("no") } }, 1))',
  ],
  [
    'this of a callback',
    'return await new Promise((r) => setTimeout(function () { try { r(use(this.constructor.constructor)) } catch (e) { r("no") } }, 1))',
    'vm',
  ],
  ['caller', 'function f() { return f.caller } return use(f().constructor)'],
  ['arguments.callee.caller', 'return use((function () { return arguments.callee.caller })().constructor)'],
  [
    'toString called by the host',
    'let got; fetch({ toString() { got = this; return "x" } }); return use(got.constructor.constructor)',
  ],
  ['a replacer', 'let seen; console.log({ toJSON() { seen = arguments } }); return use(seen.constructor.constructor)'],
  [
    'prepareStackTrace',
    'Error.prepareStackTrace = (_, frames) => frames; const frames = new Error("x").stack; return use(frames.map((f) => f.getFunction && f.getFunction()).find(Boolean).constructor)',
  ],
  [
    'prepareStackTrace and getThis',
    'Error.prepareStackTrace = (_, frames) => frames; const that = new Error("x").stack.map((f) => f.getThis && f.getThis()).find((t) => t && t.process); return "escaped " + that.process.pid',
  ],
  [
    'captureStackTrace',
    'const o = {}; Error.prepareStackTrace = (e, f) => f; Error.captureStackTrace(o); return use(o.stack[0].getThis().constructor.constructor)',
    'vm',
  ],
  [
    'stackTraceLimit',
    'Error.stackTraceLimit = Infinity; const s = String(new Error("x").stack); if (/node:|\\/(work|home|tmp|app)\\//.test(s)) return "escaped: " + s',
    'vm',
  ],
  [
    'names of files in errors',
    'const all = []; for (const f of [() => null.x, () => fetch(Symbol()), () => JSON.parse("{")]) { try { f() } catch (e) { all.push(e.stack) } } if (/node:|\\/(work|home|tmp|app)\\//.test(all.join())) return "escaped: " + all.join()',
    'vm',
  ],
];

const proxies: Program[] = [
  [
    'a proxy as an address',
    'let got; fetch(new Proxy({}, { get(t, k, r) { got = [t, k, r]; return () => "x" } })); return use(got[0].constructor.constructor)',
  ],
  [
    'a proxy as arguments',
    'let got = []; parley.entity.query(new Proxy({}, { ownKeys(...all) { got.push(...all); return [] }, get(...all) { got.push(...all) } })); return use(got.find((g) => typeof g === "object").constructor.constructor)',
  ],
  [
    'the arguments of a trap',
    'let got; console.log(new Proxy(function () {}, { apply(t, self, list) { got = list }, get(t, k) { return k === Symbol.toPrimitive ? undefined : new Proxy(function () {}, { apply(a, b, list) { got = list; return "x" } }) } })); return use(got.constructor.constructor)',
  ],
  [
    'a proxied prototype',
    'Object.setPrototypeOf(Object.prototype, null); const p = new Proxy({}, { getPrototypeOf: () => Function.prototype }); return "escaped " + p.constructor("return process.pid")()',
  ],
  [
    'has, over with',
    'return new Function("p", "with (p) { return use(Function) }")(new Proxy({}, { has: () => true, get: () => undefined }))',
  ],
  [
    'a revoked proxy',
    'const { proxy, revoke } = Proxy.revocable({}, {}); fetch(proxy); revoke(); return use(proxy.constructor.constructor)',
  ],
  ['Proxy of parley', 'return use(Object.getOwnPropertyDescriptor(parley, "constructor").value.constructor)'],
  [
    'traps that throw',
    'let e; try { console.log(new Proxy({}, { getPrototypeOf() { throw { constructor: { constructor: Function } } } })) } catch (x) { e = x } return use(e.constructor.constructor)',
  ],
];

const platform: Program[] = [
  ['require', 'return "escaped " + require("fs").readFileSync("/etc/passwd", "utf8")'],
  ['process', 'return "escaped " + process.env.PARLEY_PLANTED_SECRET'],
  ['process.binding', 'return "escaped " + Object.keys(process.binding("fs"))'],
  ['getBuiltinModule', 'return "escaped " + globalThis.process.getBuiltinModule("fs")'],
  ['mainModule', 'return "escaped " + process.mainModule.require("child_process").execSync("id")'],
  ['module', 'return "escaped " + module.constructor._load("child_process").execSync("id")'],
  [
    'globals of Node',
    'for (const n of ["global", "root", "GLOBAL", "Buffer", "__dirname", "__filename", "exports"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
  ],
  [
    'globals of other runtimes',
    'for (const n of ["Deno", "Bun", "std", "os", "bjson", "print", "load", "scriptArgs", "quit", "gc", "d8", "Worker", "importScripts"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
  ],
  ['import of a module', 'const fs = await import("node:fs"); return "escaped " + fs.readFileSync("/etc/passwd")'],
  ['import of a file', 'return "escaped " + Object.keys(await import("/etc/passwd"))'],
  ['import of the engine’s own modules', 'const std = await import("std"); return "escaped " + std.getenv("PATH")'],
  ['import of os', 'const os = await import("os"); return "escaped " + os.exec(["id"])'],
  ['import of data', 'const m = await import("data:text/javascript,export default 1"); return "escaped " + m.default'],
  ['import from an address', 'return "escaped " + Object.keys(await import("http://127.0.0.1/x.js"))'],
  ['an error of import', 'return await import("x").catch((e) => use(e.constructor.constructor))'],
  ['import in eval', 'return "escaped " + Object.keys(await eval("import(\'fs\')"))'],
  ['import.meta', 'return "escaped " + new Function("return import.meta.url")()'],
  [
    'WebAssembly',
    'const m = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])); return "escaped " + m',
    'vm',
  ],
  [
    'WebAssembly memory',
    'return "escaped " + new WebAssembly.Memory({ initial: 1, shared: true, maximum: 1 }).buffer',
    'vm',
  ],
  ['SharedArrayBuffer', 'return "escaped " + new SharedArrayBuffer(8).byteLength', 'vm'],
  ['Atomics.wait', 'return "escaped " + Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)', 'vm'],
  ['a file through fetch', 'return "escaped " + await (await fetch("file:///etc/passwd")).text()'],
  ['indirect eval', 'return "escaped " + (0, eval)("typeof process === \'object\' ? process.pid : nothing")'],
  ['strings from eval in the host', 'return "escaped " + new Function("return this.process.pid")()'],
  ['a source map comment', 'return "escaped " + eval("process.pid//# sourceMappingURL=file:///etc/passwd")'],
  ['an html comment', 'return "escaped " + eval("<!-- x\\nprocess.pid")'],
  ['a hashbang', 'return "escaped " + eval("#!/bin/sh\\nprocess.pid")'],
  [
    'code after the wrapper',
    'return 1 });\nglobalThis.escapedCode = 1; (async () => { return "escaped " + process.pid',
  ],
];

const prelude: Program[] = [
  [
    'the source of fetch',
    'const s = [fetch, URL, setTimeout, crypto.randomUUID, console.log].map(String).join(); if (/process\\.|require\\(|Bearer|node:/.test(s)) return "escaped: " + s',
  ],
  [
    'what the prelude keeps in a Map',
    'const set = Map.prototype.set, got = []; Map.prototype.set = function (k, v) { got.push(this, v); return set.call(this, k, v) }; fetch("x"); for (const g of got) if (typeof g === "function") { const p = g({ constructor: 1 }); if (p && p.process) return "escaped" }',
  ],
  [
    'JSON of the prelude',
    'const got = []; const s = JSON.stringify; JSON.stringify = (v) => { got.push(v); return s(v) }; await parley.x({}).catch(() => 0); if (s(got).includes("token")) return "escaped " + s(got)',
  ],
  [
    'Promise.prototype.then',
    'const got = []; const t = Promise.prototype.then; Promise.prototype.then = function (a, b) { got.push(this, a, b); return t.call(this, a, b) }; await fetch("x").catch(() => 0); for (const g of got) if (g && g.process) return "escaped"',
  ],
  [
    'Object.prototype setters',
    'let got; Object.defineProperty(Object.prototype, "token", { set(v) { got = v }, configurable: true }); await parley.x({}).catch(() => 0); if (got) return "escaped " + got',
  ],
  [
    'Object.prototype.toJSON',
    'const got = []; Object.prototype.toJSON = function () { got.push(this); return this }; await parley.x({}).catch(() => 0); for (const g of got) if (g.token || g.authorization) return "escaped"',
  ],
  [
    'Array.prototype iterator',
    'const got = []; Array.prototype[Symbol.iterator] = function* () { got.push(this) }; try { new Headers([["a", "b"]]); await fetch("x") } catch {} for (const g of got) if (g.process) return "escaped"',
  ],
  [
    'a question that does not exist',
    'let op; const keep = Function.prototype.call; Function.prototype.call = function (...a) { op = this; return keep.apply(this, a) }; console.log(1); if (op && String(op("exec", "\\"id\\"")).includes("uid")) return "escaped"',
  ],
  [
    'inherited names of questions',
    'for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) { try { const r = await parley[name]({}); if (typeof r === "function") return "escaped" } catch {} }',
  ],
  [
    'the context of another call',
    'globalThis.kept ??= []; globalThis.kept.push(args); if (globalThis.kept.length > 1) return "escaped to " + globalThis.kept.length',
  ],
  ['Symbol.for across calls', 'const s = Symbol.for("left"); if (globalThis[s]) return "escaped"; globalThis[s] = 1'],
  [
    'finalizers across calls',
    'if (globalThis.left) return "escaped"; globalThis.left = new FinalizationRegistry(() => 0); globalThis.left.register({}, 1)',
  ],
];

const network: Program[] = [
  [
    'the callback endpoint without a token',
    'const r = await fetch(args.chat + "/internal/tool-calls", { method: "POST", body: "{}" }); return "escaped " + r.status',
  ],
  [
    'a forged token',
    'const r = await fetch(args.chat + "/internal/tool-calls", { method: "POST", headers: { authorization: "Bearer forged" }, body: "{}" }); return "escaped " + r.status',
  ],
  ['metadata', 'return "escaped " + await (await fetch("http://169.254.169.254/latest/meta-data/")).text()'],
  ['metadata in other numbers', 'return "escaped " + await (await fetch("http://2852039166/")).text()'],
  [
    'loopback as IPv6',
    'return "escaped " + await (await fetch(args.chat.replace("127.0.0.1", "[::ffff:127.0.0.1]"))).text()',
  ],
  ['a tool name with a path', 'const r = await parley["../../v1/sync/pull"]({}); return "escaped " + r'],
  [
    'a tool name with a header',
    'const r = await parley["x\\r\\nAuthorization: Bearer other"]({}); return "escaped " + r',
  ],
  [
    'a host header',
    'const r = await fetch("http://example.com/", { headers: { host: "127.0.0.1", "x-forwarded-host": "chat" }, signal: AbortSignal.timeout(50) }).catch((e) => e.name); if (typeof r === "object") return "ended"',
  ],
  [
    'WebSocket and its kind',
    'for (const n of ["WebSocket", "XMLHttpRequest", "EventSource", "RTCPeerConnection", "navigator", "Worker"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
  ],
];

/** Shapes of past memory errors in engines. What is checked is that they end, and that the next call is well. */
const engine: Program[] = [
  [
    'a typed array past its buffer',
    'const u = new Uint8Array(new ArrayBuffer(8), 0, 8); if (u[9] !== undefined || u.at(1e9) !== undefined) return "escaped"; u[1e9] = 1; new Uint8Array(new ArrayBuffer(8), 4, 100)',
  ],
  [
    'a buffer that shrinks',
    'const b = new ArrayBuffer(1e5, { maxByteLength: 1e6 }); const u = new Uint8Array(b); u.fill(1, { valueOf() { b.resize(8); return 0 } }, 1e5); if (u[50000] !== undefined) return "escaped"',
  ],
  [
    'a buffer that is transferred while it is read',
    'const b = new ArrayBuffer(1e5); const u = new Uint8Array(b); const r = u.lastIndexOf(0, { valueOf() { b.transfer(); return 9e4 } }); if (r > 0) return "escaped " + r',
  ],
  [
    'a sort that empties its array',
    'const a = Array.from({ length: 1000 }, (_, i) => ({ i })); a.sort((x, y) => { a.length = 0; return x.i - y.i }); if (a.some((x) => typeof x !== "object")) return "escaped"',
  ],
  [
    'a splice with species',
    'class A extends Array { static get [Symbol.species]() { return function () { return new Proxy([], { defineProperty: () => true }) } } } const a = new A(1, 2, 3); a.splice(0, 2); a.concat([1]); a.slice(0)',
  ],
  [
    'a concat that shrinks',
    'const a = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 0; return 1 } }); [].concat(a, a)',
  ],
  [
    'a map that is cleared while walked',
    'const m = new Map(Array.from({ length: 1000 }, (_, i) => [i, i])); for (const [k] of m) { m.clear(); m.set(k + 1, 1); if (k > 5) break } m.forEach((v, k) => { m.delete(k); m.set(k + 1000, 1); if (m.size > 5000 || k > 1e5) m.clear() })',
  ],
  [
    'a DataView at the edge',
    'const d = new DataView(new ArrayBuffer(8)); for (const at of [-1, 1, 2 ** 31, 2 ** 32, 2 ** 53]) { try { d.getFloat64(at); return "escaped at " + at } catch {} }',
  ],
  [
    'an expression with a moved lastIndex',
    'const r = /a/gy; r.lastIndex = 2 ** 32; r.exec("aaa"); r.lastIndex = { valueOf() { r.compile && r.compile("b"); return 1 } }; r.exec("aaa"); "aaa".replace(/a/g, () => { r.lastIndex = -1; return "" })',
  ],
  [
    'JSON.parse with a reviver that deletes',
    'JSON.parse("{\\"a\\":[1,2,{\\"b\\":3}]}", function (k, v) { delete this.a; this.length = 0; return v })',
  ],
  [
    'a proxy as a prototype',
    'const p = new Proxy([], {}); Object.setPrototypeOf(Array.prototype, p); [].x; Object.setPrototypeOf(p, null)',
  ],
  [
    'a generator inside itself',
    'const g = (function* () { try { g.next() } catch {} yield 1 })(); g.next(); g.return(1); g.throw',
  ],
  [
    'a weak reference to what is gone',
    'let w; (() => { w = new WeakRef({ a: 1 }) })(); for (let i = 0; i < 1e4; i++) new Array(10); w.deref(); const m = new WeakMap(); m.set({}, m)',
  ],
  [
    'arguments that change',
    '(function (a) { arguments.length = 2 ** 31; try { [].slice.call(arguments) } catch {} arguments[0] = 1; delete arguments[0]; return a })(5)',
  ],
  [
    'a copy within',
    'const b = new ArrayBuffer(64, { maxByteLength: 128 }); const u = new Uint8Array(b); u.copyWithin(0, { valueOf() { b.resize(0); return 1 } }, 60); u.set({ length: 5, get 0() { b.resize(64); return 1 } })',
  ],
  [
    'BigInt at its edges',
    'BigInt.asUintN(2 ** 53 - 1, 5n); try { BigInt.asIntN(-1, 1n) } catch {} new BigInt64Array(1)[0] = 2n ** 100n',
  ],
  [
    'private names on others',
    'class A { #a = 1; static read(o) { return o.#a } } try { A.read(Object.create(A.prototype)); return "escaped" } catch {}',
  ],
  [
    'a class that returns a proxy',
    'class A { constructor(o) { return o } } class B extends A { #x = 1; static has(o) { return #x in o } } new B(parley); new B(new Proxy({}, {})); B.has(parley)',
  ],
];

const corpus: Program[] = [
  ...constructorChains,
  ...throwsAndCallbacks,
  ...proxies,
  ...platform,
  ...prelude,
  ...network,
  ...engine,
];

it('has at least 100 programs', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(100);
  expect(new Set(corpus.map(([, code]) => code)).size).toBe(corpus.length);
});

it.each(corpus)('%s leads nowhere', async (_name, code) => {
  reached.length = 0;
  const answer = await service.run(use + code, {
    timeoutMs: 1500,
    args: { list: [1, 2], chat: insideUrl },
    context: { who: 'me' },
    callback: { token: 'call-token' },
  });
  const text = JSON.stringify(answer.body);
  expect(text).not.toMatch(/"result":"escaped/);
  expect(text).not.toContain(planted);
  expect(text).not.toContain('root:');
  expect([200, 500]).toContain(answer.status);
  expect(reached.filter((request) => request !== '/internal/tool-calls Bearer call-token')).toEqual([]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

it('is well after all that', async () => {
  for (let round = 0; round < 8; round++)
    expect((await service.run('return [typeof left, args.n]', { args: { n: 1 } })).body.result).toEqual([
      'undefined',
      1,
    ]);
});

/** The sandbox that is none: the same objects, as the host has them. */
async function runInVm(code: string): Promise<unknown> {
  const answer = async (what: unknown): Promise<object> => {
    if (`${String(what)}` === 'fail') throw new Error('failed');
    return { what };
  };
  const parley = { entity: { query: (args: unknown) => answer(args) }, fail: () => answer('fail') };
  const fetch = (url: unknown): Promise<object> => answer(`${url as string}`);
  const host = { console: { log: () => undefined }, setTimeout, fetch };
  const context = createContext(host);
  const handler = runInContext(`(async (args, context, parley, fetch) => {\n${code}\n})`, context) as (
    ...all: unknown[]
  ) => Promise<unknown>;
  return handler({ list: [1, 2], chat: '' }, { who: 'me' }, parley, fetch);
}

describe('control: in node:vm the same programs get out', () => {
  it.each(corpus.filter(([, , mark]) => mark === 'vm'))('%s', async (_name, code) => {
    expect(await runInVm(use + code)).toMatch(/^escaped/);
  });

  it('of many classes', () => {
    expect(corpus.filter(([, , mark]) => mark === 'vm').length).toBeGreaterThanOrEqual(25);
  });

  it('and take the secret with them', async () => {
    expect(await runInVm(`${use}return use(args.constructor.constructor)`)).toContain(planted);
    expect(readFileSync('/etc/passwd', 'utf8')).toContain('root:');
  });
});
