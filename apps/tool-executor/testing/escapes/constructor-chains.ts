import type { Program } from './program';

/** Access to a `Function` of the host through the values that a handler receives. */
export const constructorChains: Program[] = [
  ['this', 'return use(this.constructor.constructor)', 'vm'],
  ['globalThis', 'return use(globalThis.constructor.constructor)', 'vm'],
  ['args', 'return use(args.constructor.constructor)', 'vm'],
  ['nested args', 'return use(args.list.constructor.constructor)', 'vm'],
  ['a method of args', 'return use(args.list.map.constructor)', 'vm'],
  ['context', 'return use(context.constructor.constructor)', 'vm'],
  ['parley', 'return use(parley.constructor.constructor)', 'vm'],
  ['a tool', 'return use(parley.entity.query.constructor)', 'vm'],
  [
    'the answer of a tool',
    'return use((await parley.entity.query({})).constructor.constructor)',
    'vm',
  ],
  ['the promise of a tool', 'return use(parley.entity.query({}).constructor.constructor)', 'vm'],
  ['fetch', 'return use(fetch.constructor)', 'vm'],
  ['the promise of fetch', 'return use(fetch("x").constructor.constructor)', 'vm'],
  ['a response', 'return use((await fetch("x")).constructor.constructor)', 'vm'],
  ['console', 'return use(console.log.constructor)', 'vm'],
  ['a timer', 'return use(setTimeout.constructor)', 'vm'],
  ['what a timer returns', 'return use(setTimeout(() => 0, 1).constructor.constructor)', 'vm'],
  [
    'the prototype of args',
    'return use(Object.getPrototypeOf(args).constructor.constructor)',
    'vm',
  ],
  [
    'the prototype of a tool',
    'return use(Reflect.getPrototypeOf(parley.entity.query).constructor)',
    'vm',
  ],
  ['__proto__ of args', 'return use(args.__proto__.constructor.constructor)', 'vm'],
  ['a getter of __proto__', 'return use(args.__lookupGetter__("__proto__").constructor)', 'vm'],
  ['Function itself', 'return use(Function)', 'node'],
  ['a function of its own', 'return use((() => 0).constructor)', 'node'],
  [
    'an async function',
    'return await (async () => 0).constructor("return process.pid")().then((p) => "escaped " + p)',
    'node',
  ],
  [
    'a generator',
    'return "escaped " + [...(function* () {}).constructor("yield process.pid")()]',
    'node',
  ],
  [
    'an async generator',
    'for await (const p of (async function* () {}).constructor("yield process.pid")()) return "escaped " + p',
    'node',
  ],
  [
    'a class',
    'class A extends Function { constructor() { super("return process") } } return "escaped " + new A()().pid',
    'node',
  ],
  [
    'Reflect.construct',
    'return "escaped " + Reflect.construct(Function, ["return process"])().pid',
    'node',
  ],
  ['a bound function', 'return use(parley.entity.query.bind(null).constructor)', 'vm'],
  ['Symbol.species', 'return use(args.list.filter(() => 1).constructor.constructor)', 'vm'],
];
