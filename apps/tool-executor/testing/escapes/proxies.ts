import type { Program } from './program';

/** Proxies in place of the plain values that the host expects. */
export const proxies: Program[] = [
  [
    'a proxy as an address',
    'let got; fetch(new Proxy({}, { get(t, k, r) { got = [t, k, r]; return () => "x" } })); return use(got[0].constructor.constructor)',
    'node',
  ],
  [
    'a proxy as arguments',
    'let got = []; parley.entity.query(new Proxy({}, { ownKeys(...all) { got.push(...all); return [] }, get(...all) { got.push(...all) } })); return use(got.find((g) => typeof g === "object").constructor.constructor)',
    'node',
  ],
  [
    'the arguments of a trap',
    'let got; console.log(new Proxy(function () {}, { apply(t, self, list) { got = list }, get(t, k) { return k === Symbol.toPrimitive ? undefined : new Proxy(function () {}, { apply(a, b, list) { got = list; return "x" } }) } })); return use(got.constructor.constructor)',
    'vm',
  ],
  [
    'a proxied prototype',
    'const p = Object.setPrototypeOf(new Proxy({}, {}), Function.prototype); return "escaped " + p.constructor("return process.pid")()',
    'node',
  ],
  [
    'has, over with',
    'return use(new Function("p", "with (p) { return found }")(new Proxy({}, { has: (t, k) => k === "found", get: (t, k) => (k === "found" ? args.constructor.constructor : undefined) })))',
    'vm',
  ],
  [
    'a revoked proxy',
    'const { proxy, revoke } = Proxy.revocable({}, {}); fetch(proxy); const F = proxy.constructor.constructor; revoke(); return use(F)',
    'node',
  ],
  [
    'Proxy of parley',
    'return use(Object.getOwnPropertyDescriptor(Object.getPrototypeOf(parley), "constructor").value.constructor)',
    'vm',
  ],
  [
    'traps that throw',
    'let e; try { Object.getPrototypeOf(new Proxy({}, { getPrototypeOf() { throw parley } })) } catch (x) { e = x } return use(e.constructor.constructor)',
    'vm',
  ],
];
