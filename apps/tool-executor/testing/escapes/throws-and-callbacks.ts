import type { Program } from './program';

/** Access through errors, callbacks and stack traces of the host. */
export const throwsAndCallbacks: Program[] = [
  [
    'an error of fetch',
    'try { fetch(Symbol("x")) } catch (e) { return use(e.constructor.constructor) }',
    'vm',
  ],
  [
    'a rejection of fetch',
    'return await fetch("fail").catch((e) => use(e.constructor.constructor))',
    'vm',
  ],
  [
    'a rejection of a tool',
    'return await parley.fail().catch((e) => use(e.constructor.constructor))',
    'vm',
  ],
  [
    'an error of a timer',
    'try { setTimeout("not a function") } catch (e) { return use(e.constructor.constructor) }',
    'vm',
  ],
  [
    'an error deep in the host',
    'const f = () => { try { f() } catch (e) { try { fetch(1); console.log(1) } catch (x) { e = x } throw e } }; try { f() } catch (e) { return use(e.constructor.constructor) }',
    'vm',
  ],
  [
    'arguments of a callback',
    'return await new Promise((r) => setTimeout(function () { try { r(use(arguments.callee.caller.constructor)) } catch (e) { r("no") } }, 1))',
    null,
  ],
  [
    'this of a callback',
    'return await new Promise((r) => setTimeout(function () { try { r(use(this.constructor.constructor)) } catch (e) { r("no") } }, 1))',
    'vm',
  ],
  ['caller', 'function f() { return f.caller } return use(f().constructor)', 'node'],
  [
    'arguments.callee.caller',
    'return use((function () { return arguments.callee.caller })().constructor)',
    'node',
  ],
  [
    'toString called by the host',
    'let got; fetch({ toString() { got = this; return "x" } }); return use(got.constructor.constructor)',
    'node',
  ],
  [
    'a replacer',
    'let seen; console.log({ toJSON() { seen = arguments } }); return use(seen.constructor.constructor)',
    'node',
  ],
  [
    'prepareStackTrace',
    'Error.prepareStackTrace = (_, frames) => frames; const frames = new Error("x").stack; return use(frames.map((f) => f.getFunction && f.getFunction()).find(Boolean).constructor)',
    'node',
  ],
  [
    'prepareStackTrace and getThis',
    'Error.prepareStackTrace = (_, frames) => frames; const that = new Error("x").stack.map((f) => f.getThis && f.getThis()).find((t) => t && t.process); return "escaped " + that.process.pid',
    'node',
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
