import type { Program } from './program';

/**
 * Changes of built-in objects that the prelude could use, and state that one call
 * leaves for the next.
 */
export const prelude: Program[] = [
  [
    'the source of fetch',
    'const s = [fetch, URL, setTimeout, crypto.randomUUID, console.log].map(String).join(); if (/process\\.|require\\(|Bearer|node:/.test(s)) return "escaped: " + s',
    'prelude',
  ],
  [
    'values that the prelude stores in a Map',
    'const set = Map.prototype.set, got = []; Map.prototype.set = function (k, v) { got.push(this, v); return set.call(this, k, v) }; fetch("x").catch(() => 0); for (const g of got) if (typeof g === "function") return use(g.constructor)',
    'prelude',
  ],
  [
    'JSON of the prelude',
    'const got = []; const s = JSON.stringify; JSON.stringify = (v) => { got.push(v); return s(v) }; await parley.x({}).catch(() => 0); if (s(got).includes("token")) return "escaped " + s(got)',
    'prelude',
  ],
  [
    'Promise.prototype.then',
    'const got = []; const t = Promise.prototype.then; Promise.prototype.then = function (a, b) { got.push(this, a, b); return t.call(this, a, b) }; await fetch("x").catch(() => 0); for (const g of got) { try { return use(g.constructor) } catch {} }',
    'node',
  ],
  [
    'Object.prototype setters',
    'let got; Object.defineProperty(Object.prototype, "token", { set(v) { got = v }, configurable: true }); await parley.x({}).catch(() => 0); if (got) return "escaped " + got',
    'prelude',
  ],
  [
    'Object.prototype.toJSON',
    'const got = []; Object.prototype.toJSON = function () { got.push(this); return this }; await parley.x({}).catch(() => 0); for (const g of got) if (g.token || g.authorization) return "escaped"',
    'prelude',
  ],
  [
    'Array.prototype iterator',
    'const got = []; Array.prototype[Symbol.iterator] = function* () { got.push(this) }; await Promise.allSettled([fetch("x"), (async () => new Headers([["a", "b"]]))()]); let out; got.forEach((g) => { try { out ??= use(g[0].constructor) } catch {} }); return out',
    'prelude',
  ],
  [
    'an operation that does not exist',
    'let op; const keep = Function.prototype.call; Function.prototype.call = function (...a) { op = this; return keep.apply(this, a) }; console.log(1); await fetch("x").catch(() => 0); if (op && String(op("exec", "\\"id\\"")).includes("uid")) return "escaped"',
    'prelude',
  ],
  [
    'inherited names of operations',
    'for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) { try { const r = await parley[name]({}); if (typeof r === "function") return "escaped" } catch {} }',
    'prelude',
  ],
  [
    'the context of another call',
    'globalThis.kept ??= []; globalThis.kept.push(args); if (globalThis.kept.length > 1) return "escaped to " + globalThis.kept.length',
    'twice',
  ],
  [
    'Symbol.for across calls',
    'const s = Symbol.for("left"); if (globalThis[s]) return "escaped"; globalThis[s] = 1',
    'twice',
  ],
  [
    'finalizers across calls',
    'if (globalThis.left) return "escaped"; globalThis.left = new FinalizationRegistry(() => 0); globalThis.left.register({}, 1)',
    'twice',
  ],
];
