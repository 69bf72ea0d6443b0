import type { Program } from './program';

/** Expressions whose value comes from the host. */
const sources = [
  'args',
  'args.list',
  'args.list.map',
  'context',
  'parley',
  'parley.entity',
  'parley.entity.query',
  'parley.entity.query({})',
  '(await parley.entity.query({ type: "order" }))',
  '(await Promise.all([parley.entity.query({})]))[0]',
  'fetch',
  '(await fetch("x"))',
  '(await parley.fail().catch((error) => error))',
  '(() => { try { fetch(Symbol("x")) } catch (error) { return error } })()',
  'console',
  'console.log',
  'setTimeout',
  'setTimeout(() => 0, 0)',
];

/** Expressions that lead from an object `o` to the `Function` of its realm. */
const paths = [
  'o.constructor.constructor',
  'o["constructor"]["constructor"]',
  'o["cons" + "tructor"].constructor',
  'o.c\\u006fnstructor.constructor',
  'o[["constructor"]].constructor',
  'o[{ toString: () => "constructor" }].constructor',
  'o[atobLike("rotcurtsnoc")].constructor',
  'o?.constructor?.["constructor"]',
  'o.__proto__.constructor.constructor',
  'Reflect.get(Reflect.get(o, "constructor"), "constructor")',
  'Object.getPrototypeOf(o).constructor.constructor',
  'Reflect.getPrototypeOf(o)["constructor"].constructor',
  'Object.getOwnPropertyDescriptor(Object.getPrototypeOf(o), "constructor").value.constructor',
  'Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(o))).find(([key]) => key === "constructor")[1].value.constructor',
  'Reflect.ownKeys(Object.getPrototypeOf(o)).filter((key) => key === "constructor").map((key) => o[key].constructor)[0]',
  '(({ constructor: { constructor: F } }) => F)(o)',
  '[o].map((one) => one.constructor)[0].constructor',
  'new Proxy(o, {}).constructor.constructor',
  'new Proxy(o, { get: (target, key) => Reflect.get(target, key) }).constructor.constructor',
  'Object.create(o).constructor.constructor',
  'new Function("one", "return one.constructor.constructor")(o)',
  'eval("o.constructor.constructor")',
  'new Map([[1, o]]).get(1).constructor.constructor',
  'Array.from([o], (one) => one.constructor)[0].constructor',
];

/** Expressions that lead from a `Function` to the process. */
const uses = [
  'F("return process")()',
  'new F("return process")()',
  'F`return process`()',
  'F("return this")().process',
  'F("return globalThis")()["process"]',
  'F("found", "return found()")(F("return process"))',
  'F.call(null, "return process")()',
  'F.apply(null, ["return process"])()',
  'F.bind(null, "return process")()()',
  'Reflect.apply(F, null, ["return process"])()',
  'Reflect.construct(F, ["return process"])()',
  'F("return (0, eval)")()("process")',
  'F("return (() => process)()")()',
  'F("for (const one of [process]) return one")()',
];

/**
 * Code around an escape. `LEAVE` is replaced by the expression that escapes, which may use `await`.
 */
const carriers = [
  'return LEAVE',
  'return await (async () => LEAVE)()',
  'try { throw LEAVE } catch (found) { return found }',
  'try { return LEAVE } finally { console.log("left") }',
  'return await new Promise((done) => setTimeout(async () => { try { done(LEAVE) } catch (error) { done("no " + error) } }, 1))',
  'const o = { get found() { return (async () => LEAVE)() } }; return await o.found',
  'class Out { static async found() { return LEAVE } } return await Out.found()',
  'class Out { found = (async () => LEAVE)() } return await new Out().found',
  'for await (const found of (async function* () { yield LEAVE })()) return found',
  'const { found = await (async () => LEAVE)() } = {}; return found',
  'return (await Promise.all([async () => LEAVE].map((one) => one())))[0]',
  'return await [0].reduce(async () => LEAVE, 0)',
  'return await Promise.reject(0).catch(async () => LEAVE)',
  'return await Promise.resolve().finally(() => 0).then(async () => LEAVE)',
  'return await { async then(done) { try { done(LEAVE) } catch (error) { done("no " + error) } } }',
  'out: do { switch (true) { default: return LEAVE } } while (false)',
  'let found; for (const at in { one: 1 }) found = LEAVE; return found',
  'return await Reflect.apply(async () => LEAVE, null, [])',
  'return JSON.parse(JSON.stringify({ found: LEAVE })).found',
  'return await ((found = (async () => LEAVE)()) => found)()',
];

const helpers = 'const atobLike = (text) => [...text].reverse().join("");\n';

/** Generates programs that combine known techniques. The same seed gives the same programs. */
export function mutants(count: number, seed: number): Program[] {
  const random = randomNumbers(seed);
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)]!;
  const programs = new Map<string, Program>();
  for (let index = 0; programs.size < count; index++) {
    const [source, path, use, carrier] = [pick(sources), pick(paths), pick(uses), pick(carriers)];
    const leave = `((p) => "escaped to " + p.pid + " " + p.env.PARLEY_PLANTED_SECRET)(((F) => ${use})(((o) => ${path})(${source})))`;
    // A function as the replacement, because the code contains "$".
    const code = helpers + carrier.replace('LEAVE', () => leave);
    programs.set(code, [`${index} of seed ${seed}: ${source} → ${path} → ${use}`, code, 'vm']);
  }
  return [...programs.values()];
}

/** Mulberry32, which has the same results on every platform. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
