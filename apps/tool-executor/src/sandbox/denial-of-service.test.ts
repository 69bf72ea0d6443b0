import {
  type Answer,
  type TestExecutor,
  startTestExecutor,
} from '../../testing/start-test-executor';

/*
 * Programs that try to exhaust the service. Each must end with a documented answer, while other
 * calls are answered and the service continues. How late is reported, not limited:
 * process-priority.test.ts shows that the engine itself ends a program at its time limit,
 * second-barrier.test.ts that the process is otherwise killed 150 ms after it.
 */

const timeoutMs = 300;
/**
 * Far longer than a trivial call takes on a busy machine, with its parsing and its wait for a
 * process that is replaced.
 */
const generousMs = 50_000;

let service: TestExecutor;
beforeAll(async () => {
  service = await startTestExecutor({
    minProcesses: 4,
    maxProcesses: 6,
    queueTimeoutMs: generousMs,
    compileTimeoutMs: generousMs,
  });
});
afterAll(async () => {
  const inTime = lateness.filter((lateMs) => lateMs <= 250).length;
  const worst = Math.round(Math.max(...lateness));
  console.info(
    `${inTime} of ${lateness.length} within 250 ms of the limit, the latest ${worst} ms`,
  );
  await service.close();
});

/** How long after its time limit each program was answered, in milliseconds. */
const lateness: number[] = [];

const timeLimit = 'Execution time exceeded';
const memoryLimit = 'The handler exceeded its memory limit of 64 MiB';
const depthLimit = 'Maximum call stack size exceeded';
/**
 * Which limit is reached first can depend on the speed of the machine. Every listed answer is
 * a documented one.
 */
const time = [timeLimit];
const depth = [depthLimit, timeLimit];
const memory = [
  memoryLimit,
  timeLimit,
  'invalid array length',
  'string too long',
  'resource limit',
];
/** Any limit, error or result: the program must only end. */
const any = [''];

const corpus: [name: string, code: string, answers: string[]][] = [
  ['a loop', 'while (true) {}', time],
  [
    'a loop that catches',
    'for (;;) { try { while (true) {} } catch {} finally { continue } }',
    time,
  ],
  ['a loop in finally', 'try { return 1 } finally { for (;;); }', time],
  ['a loop of calls to the outside', 'for (;;) crypto.randomUUID()', time],
  ['a loop of console lines', 'for (;;) console.log("x".repeat(1000))', time],
  ['a loop of URL parsing', 'for (;;) new URL("http://a.b/?" + Math.random())', time],
  [
    'a loop of timers',
    'const go = () => setTimeout(go, 0); for (let i = 0; i < 500; i++) go(); await new Promise(() => {})',
    time,
  ],
  [
    'intervals',
    'for (let i = 0; i < 900; i++) setInterval(() => {}, 0); await new Promise(() => {})',
    time,
  ],
  ['a promise loop', 'for (;;) await null', time],
  ['a promise loop without await', 'const f = () => Promise.resolve().then(f); await f()', time],
  ['a microtask loop', 'const f = () => queueMicrotask(f); f(); await new Promise(() => {})', time],
  [
    'microtasks that multiply',
    'const f = () => { queueMicrotask(f); queueMicrotask(f) }; f(); await new Promise(() => {})',
    memory,
  ],
  ['a thenable without end', 'const t = { then(r) { r(t) } }; await t', time],
  [
    'an async generator without end',
    'async function* g() { for (;;) yield 1 } for await (const _ of g());',
    time,
  ],
  [
    'a loop in an async generator',
    'async function* g() { yield 1; for (;;); } for await (const _ of g());',
    time,
  ],
  ['a generator without end, spread', 'function* g() { for (;;) yield 1 } return [...g()]', memory],
  [
    'an iterator without end',
    'for (const _ of { [Symbol.iterator]: () => ({ next: () => ({ done: false }) }) });',
    time,
  ],
  ['a getter that loops', 'return { get a() { for (;;); } }', time],
  ['a getter on the error', 'throw { get message() { for (;;); } }', time],
  ['a toJSON that loops', 'return { toJSON() { for (;;); } }', time],
  [
    'a toString in the console',
    'console.log(Object.assign(new Error("x"), { toString() { for (;;); } }))',
    time,
  ],
  ['a valueOf that loops', 'return +{ valueOf() { for (;;); } }', time],
  ['a proxy that loops', 'return new Proxy({}, { ownKeys() { for (;;); } })', time],
  ['a comparison that loops', '[3, 1, 2].sort(() => { for (;;); })', time],
  ['a reviver that loops', 'JSON.parse("[1]", () => { for (;;); })', time],
  ['a catastrophic expression', 'return /^(a+)+$/.test("a".repeat(40) + "!")', time],
  ['another catastrophic expression', 'return /(x+x+)+y/.exec("x".repeat(60))', time],
  ['backtracking over alternatives', 'return /^(?:a|a|b)*c$/.test("ab".repeat(40))', time],
  [
    'replace with a catastrophic expression',
    'return ("a".repeat(40) + "!").replace(/(a|a)+$/g, "")',
    time,
  ],
  ['eval that loops', 'eval("for (;;);")', time],
  ['Function that loops', 'new Function("for (;;);")()', time],
  ['a static block that loops', 'class A { static { for (;;); } }', time],
  ['a default argument that loops', '((a = (() => { for (;;); })()) => a)()', time],
  ['a promise that is never resolved', 'await new Promise(() => {})', time],
  ['a wait beyond the limit', 'await new Promise((r) => setTimeout(r, 1e9))', time],
  ['a tagged template that loops', 'const f = () => { for (;;); }; f`x`', time],
  ['a wide join', 'return new Array(5e7) + ""', memory],
  [
    'an array of a billion',
    'const a = Array(1e9); for (let i = 0; i < a.length; i++) a[i] = i',
    memory,
  ],
  ['a billion filled', 'return Array(1e9).fill(0).length', memory],
  ['a billion from a length', 'return Array.from({ length: 1e9 }).length', memory],
  ['a sparse array searched', 'const a = []; a.length = 4e9; return a.indexOf(1)', memory],
  ['a sparse array reversed', 'const a = []; a.length = 4e9; a.reverse(); return 1', memory],
  ['a string that doubles', 'let s = "x"; for (;;) s += s', any],
  [
    'a string that doubles and is read',
    'let s = "xy"; for (;;) { s += s; s.charCodeAt(s.length - 1) }',
    any,
  ],
  ['repeat', 'return "x".repeat(2 ** 29).length', memory],
  ['padding', 'return "x".padEnd(2 ** 29).length', memory],
  [
    'replacement that multiplies',
    'let s = "x".repeat(1e5); s = s.replace(/x/g, "x".repeat(1e5)); return s.length',
    memory,
  ],
  ['split', 'return "x".repeat(2e7).split("").length', memory],
  ['deep recursion', 'const f = () => f() + 1; return f()', depth],
  [
    'deep recursion that catches',
    'const f = () => { try { return f() } catch { return f() } }; return f()',
    any,
  ],
  [
    'mutual recursion through a getter',
    'const a = { get b() { return this.b } }; return a.b',
    depth,
  ],
  [
    'recursion through a proxy',
    'const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x',
    depth,
  ],
  [
    'recursion through toString',
    'const a = { toString() { return "" + this } }; return "" + a',
    depth,
  ],
  ['recursion through sort', 'const f = () => [2, 1].sort(f); f()', depth],
  ['recursion through replace', 'const f = () => "x".replace(/x/, f); f()', depth],
  ['recursion through Reflect', 'const f = () => Reflect.apply(f, null, []); f()', depth],
  ['recursion through JSON', 'const f = () => JSON.stringify({ toJSON: f }); f()', depth],
  ['recursion through generators', 'function* g() { yield* g() } [...g()]', depth],
  ['recursion through eval', 'const f = () => eval("f()"); f()', depth],
  [
    'recursion through the console',
    'const a = { get b() { console.log(a); return 1 } }; console.log(a); return a.b',
    any,
  ],
  [
    'a chain of proxies',
    'let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x',
    any,
  ],
  [
    'a chain of bound functions',
    'let f = () => 1; for (let i = 0; i < 1e5; i++) f = f.bind(); return f()',
    any,
  ],
  [
    'an array in an array in an array',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a',
    any,
  ],
  ['the same, as text', 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return String(a)', any],
  [
    'the same, flattened',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity)',
    any,
  ],
  [
    'the same, cloned',
    'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return structuredClone(a)',
    any,
  ],
  ['deep JSON', 'return JSON.parse("[".repeat(1e5) + "]".repeat(1e5))', any],
  ['deep source', 'return eval("(".repeat(1e5) + "1" + ")".repeat(1e5))', any],
  ['deep source of functions', 'return eval("()=>".repeat(1e5) + "1")', any],
  ['a deep expression', 'return new RegExp("(?:".repeat(1e5) + ")".repeat(1e5))', any],
  ['deep rejection', 'const f = async (n) => f(n + 1); await f(0)', depth],
  ['huge JSON', 'return JSON.parse("[" + "1,".repeat(2e7) + "1]").length', memory],
  ['huge JSON out', 'return Array.from({ length: 3e6 }, (_, i) => "item " + i)', memory],
  [
    'a huge result',
    'return "x".repeat(3e7)',
    ['The result is larger than 1048576 bytes', memoryLimit, timeLimit],
  ],
  ['a huge error', 'throw new Error("x".repeat(1e6))', ['x'.repeat(8192), timeLimit]],
  ['a huge BigInt power', 'return String(2n ** 100000000n).length', any],
  ['a huge BigInt product', 'let a = 3n ** 200000n; for (;;) a *= a', any],
  ['BigInt to text', 'const a = 3n ** 2000000n; return a.toString().length', any],
  ['BigInt shifted', 'return (1n << 1000000000n) === 0n', any],
  ['memory by objects', 'const a = []; for (;;) a.push({ a: [1, 2, 3] })', memory],
  ['memory by buffers', 'const a = []; for (;;) a.push(new ArrayBuffer(1e6))', memory],
  ['memory in one allocation', 'return new Uint8Array(2e9).length', any],
  ['memory by closures', 'let f = () => 0; for (;;) { const g = f; f = () => g }', memory],
  ['memory by maps', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', memory],
  [
    'memory by symbols',
    'const a = []; for (;;) a.push(Symbol("x".repeat(1000) + a.length))',
    memory,
  ],
  ['memory by property names', 'const o = {}; for (let i = 0; ; i++) o["key" + i] = i', memory],
  ['memory by promises', 'const a = []; for (;;) a.push(Promise.reject(a.length))', memory],
  [
    'memory, caught and tried again',
    'const a = []; for (;;) { try { for (;;) a.push(new ArrayBuffer(1e5)) } catch {} }',
    memory,
  ],
  [
    'memory by encoded text',
    'const a = []; for (;;) a.push(new TextEncoder().encode("x".repeat(1e6)))',
    memory,
  ],
  ['memory by concatenation', 'let a = [1]; for (;;) a = a.concat(a)', memory],
  [
    'an output flood',
    'for (let i = 0; i < 1e5; i++) console.log("line", i, "x".repeat(5000)); return "done"',
    ['the result "done"', timeLimit],
  ],
  [
    'a flood of tool calls',
    'for (let i = 0; i < 1e5; i++) parley.a.b({ i }).catch(() => {}); return 1',
    ['the result 1', timeLimit],
  ],
  [
    'a flood of fetches',
    'await Promise.all(Array.from({ length: 1e4 }, () => fetch("http://127.0.0.1/")))',
    ['Too many requests', timeLimit],
  ],
  [
    'a flood of large bodies',
    'await Promise.all(Array.from({ length: 60 }, () => fetch("http://127.0.0.1/", { method: "POST", body: "x".repeat(2e6) }).catch(() => 0))); return 1',
    any,
  ],
  ['many arguments', 'return Math.max.apply(null, new Array(1e7))', any],
  [
    'many parameters',
    'return new Function(Array.from({ length: 1e5 }, (_, i) => "a" + i).join(), "return 1")()',
    any,
  ],
  [
    'many local variables',
    'return eval(Array.from({ length: 1e5 }, (_, i) => "let a" + i + "=1").join(";"))',
    any,
  ],
  [
    'a digest of much',
    'const b = new Uint8Array(3e7); for (;;) await crypto.subtle.digest("SHA-512", b)',
    any,
  ],
  ['normalisation of much', 'return "\\u0344".repeat(5e6).normalize("NFD").length', any],
];

/**
 * The error or result of an answer in one line. `undocumented`: the contract has no such answer.
 */
function endOf({ status, body }: Answer): string {
  if (status === 200 && typeof body.error === 'string') return body.error;
  if (status === 200 && 'result' in body)
    return `the result ${JSON.stringify(body.result)}`.slice(0, 200);
  return status === 500 && body.error === timeLimit
    ? timeLimit
    : `undocumented: ${status} ${JSON.stringify(body)}`.slice(0, 300);
}

it('the corpus has at least 60 programs', () => {
  expect(corpus.length).toBeGreaterThanOrEqual(60);
});

it.each(corpus)('%s ends, and other calls are answered', async (_name, code, answers) => {
  const otherCall = () =>
    service.run('return args.n + 1', { args: { n: 1 }, timeoutMs: generousMs });
  const [answer, ...others] = await Promise.all([
    service.run(code, { timeoutMs }),
    otherCall(),
    otherCall(),
  ]);
  lateness.push(answer.durationMs - timeoutMs);
  expect(others.map(({ body }) => body.result)).toEqual([2, 2]);
  const end = endOf(answer);
  expect(answers.some((text) => end.includes(text)) ? 'expected' : end.slice(0, 300)).toBe(
    'expected',
  );
  expect(end).not.toMatch(/^undocumented/);
});

it('still answers after its processes were replaced', async () => {
  await service.executor.warm();
  expect(await service.run('return 1')).toMatchObject({ status: 200, body: { result: 1 } });
});
