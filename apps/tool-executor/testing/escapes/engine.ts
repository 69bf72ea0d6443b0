import type { Program } from './program';

/** Patterns of past memory errors in engines. They must end without effect on the next call. */
export const engine: Program[] = [
  [
    'a typed array past its buffer',
    'const u = new Uint8Array(new ArrayBuffer(8), 0, 8); if (u[9] !== undefined || u.at(1e9) !== undefined) return "escaped"; u[1e9] = 1; new Uint8Array(new ArrayBuffer(8), 4, 100)',
    null,
  ],
  [
    'a buffer that shrinks',
    'const b = new ArrayBuffer(1e5, { maxByteLength: 1e6 }); const u = new Uint8Array(b); u.fill(1, { valueOf() { b.resize(8); return 0 } }, 1e5); if (u[50000] !== undefined) return "escaped"',
    null,
  ],
  [
    'a buffer that is transferred while it is read',
    'const b = new ArrayBuffer(1e5); const u = new Uint8Array(b); const r = u.lastIndexOf(0, { valueOf() { b.transfer(); return 9e4 } }); if (r > 0) return "escaped " + r',
    null,
  ],
  [
    'a sort that empties its array',
    'const a = Array.from({ length: 1000 }, (_, i) => ({ i })); a.sort((x, y) => { a.length = 0; return x.i - y.i }); if (a.some((x) => typeof x !== "object")) return "escaped"',
    null,
  ],
  [
    'a splice with species',
    'class A extends Array { static get [Symbol.species]() { return function () { return new Proxy([], { defineProperty: () => true }) } } } const a = new A(1, 2, 3); a.splice(0, 2); a.concat([1]); a.slice(0)',
    null,
  ],
  [
    'a concat that shrinks',
    'const a = [1, 2, 3]; Object.defineProperty(a, 0, { get() { a.length = 0; return 1 } }); [].concat(a, a)',
    null,
  ],
  [
    'a map that is cleared during iteration',
    'const m = new Map(Array.from({ length: 1000 }, (_, i) => [i, i])); for (const [k] of m) { m.clear(); m.set(k + 1, 1); if (k > 5) break } m.forEach((v, k) => { m.delete(k); m.set(k + 1000, 1); if (m.size > 5000 || k > 1e5) m.clear() })',
    null,
  ],
  [
    'a DataView at the edge',
    'const d = new DataView(new ArrayBuffer(8)); for (const at of [-1, 1, 2 ** 31, 2 ** 32, 2 ** 53]) { try { d.getFloat64(at); return "escaped at " + at } catch {} }',
    null,
  ],
  [
    'an expression with a moved lastIndex',
    'const r = /a/gy; r.lastIndex = 2 ** 32; r.exec("aaa"); r.lastIndex = { valueOf() { r.compile && r.compile("b"); return 1 } }; r.exec("aaa"); "aaa".replace(/a/g, () => { r.lastIndex = -1; return "" })',
    null,
  ],
  [
    'JSON.parse with a reviver that deletes',
    'JSON.parse("{\\"a\\":[1,2,{\\"b\\":3}]}", function (k, v) { delete this.a; this.length = 0; return v })',
    null,
  ],
  [
    'a proxy as a prototype',
    'const p = new Proxy([], {}); Object.setPrototypeOf(Array.prototype, p); [].x; Object.setPrototypeOf(p, null)',
    null,
  ],
  [
    'a generator inside itself',
    'const g = (function* () { try { g.next() } catch {} yield 1 })(); g.next(); g.return(1); g.throw',
    null,
  ],
  [
    'a weak reference to a collected object',
    'let w; (() => { w = new WeakRef({ a: 1 }) })(); for (let i = 0; i < 1e4; i++) new Array(10); w.deref(); const m = new WeakMap(); m.set({}, m)',
    null,
  ],
  [
    'arguments that change',
    '(function (a) { arguments.length = 2 ** 31; try { [].slice.call(arguments) } catch {} arguments[0] = 1; delete arguments[0]; return a })(5)',
    null,
  ],
  [
    'a copy within',
    'const b = new ArrayBuffer(64, { maxByteLength: 128 }); const u = new Uint8Array(b); u.copyWithin(0, { valueOf() { b.resize(0); return 1 } }, 60); u.set({ length: 5, get 0() { b.resize(64); return 1 } })',
    null,
  ],
  [
    'BigInt at its edges',
    'BigInt.asUintN(2 ** 53 - 1, 5n); try { BigInt.asIntN(-1, 1n) } catch {} new BigInt64Array(1)[0] = 2n ** 100n',
    null,
  ],
  [
    'private names on others',
    'class A { #a = 1; static read(o) { return o.#a } } try { A.read(Object.create(A.prototype)); return "escaped" } catch {}',
    null,
  ],
  [
    'a class that returns a proxy',
    'class A { constructor(o) { return o } } class B extends A { #x = 1; static has(o) { return #x in o } } new B(parley); new B(new Proxy({}, {})); B.has(parley)',
    null,
  ],
];
