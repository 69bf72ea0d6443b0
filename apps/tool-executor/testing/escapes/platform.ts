import type { Program } from './program';

/** Globals of other runtimes, and ways to load code. */
export const platform: Program[] = [
  ['require', 'return "escaped " + require("fs").readFileSync("/etc/passwd", "utf8")', 'node'],
  ['process', 'return "escaped " + process.env.PARLEY_PLANTED_SECRET', 'node'],
  ['process.binding', 'return "escaped " + Object.keys(process.binding("fs"))', 'node'],
  ['getBuiltinModule', 'return "escaped " + globalThis.process.getBuiltinModule("fs")', 'node'],
  [
    'mainModule',
    'return "escaped " + process.mainModule.require("child_process").execSync("id")',
    'node',
  ],
  [
    'module',
    'return "escaped " + module.constructor._load("child_process").execSync("id")',
    'node',
  ],
  [
    'globals of Node',
    'for (const n of ["global", "root", "GLOBAL", "Buffer", "__dirname", "__filename", "exports"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
    'node',
  ],
  [
    'globals of other runtimes',
    'for (const n of ["Deno", "Bun", "std", "os", "bjson", "print", "load", "scriptArgs", "quit", "gc", "d8", "Worker", "importScripts"]) if (typeof globalThis[n] !== "undefined") return "escaped to " + n',
    'node',
  ],
  [
    'import of a module',
    'const fs = await import("node:fs"); return "escaped " + fs.readFileSync("/etc/passwd")',
    'vm',
  ],
  ['import of a file', 'return "escaped " + Object.keys(await import("/etc/passwd"))', null],
  [
    'import of the engine’s own modules',
    'const std = await import("std"); return "escaped " + std.getenv("PATH")',
    null,
  ],
  ['import of os', 'const os = await import("os"); return "escaped " + os.exec(["id"])', null],
  [
    'import of data',
    'const m = await import("data:text/javascript,export default 1"); return "escaped " + m.default',
    'vm',
  ],
  [
    'import from an address',
    'return "escaped " + Object.keys(await import("http://127.0.0.1/x.js"))',
    null,
  ],
  [
    'an error of import',
    'return await import("x").catch((e) => use(e.constructor.constructor))',
    'vm',
  ],
  ['import in eval', 'return "escaped " + Object.keys(await eval("import(\'fs\')"))', 'vm'],
  ['import.meta', 'return "escaped " + new Function("return import.meta.url")()', null],
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
  [
    'Atomics.wait',
    'return "escaped " + Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)',
    'vm',
  ],
  [
    'a file through fetch',
    'return "escaped " + await (await fetch("file:///etc/passwd")).text()',
    'node',
  ],
  [
    'indirect eval',
    'return "escaped " + (0, eval)("typeof process === \'object\' ? process.pid : nothing")',
    'node',
  ],
  [
    'strings from eval in the host',
    'return "escaped " + new Function("return this.process.pid")()',
    'node',
  ],
  [
    'a source map comment',
    'return "escaped " + eval("process.pid//# sourceMappingURL=file:///etc/passwd")',
    'node',
  ],
  ['an html comment', 'return "escaped " + eval("<!-- x\\nprocess.pid")', 'node'],
  ['a hashbang', 'return "escaped " + eval("#!/bin/sh\\nprocess.pid")', 'node'],
  [
    'code after the wrapper',
    'return 1 });\nglobalThis.escapedCode = 1; (async () => { return "escaped " + process.pid',
    'node',
  ],
];
