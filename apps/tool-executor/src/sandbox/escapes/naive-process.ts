import { readFileSync } from 'node:fs';
import { type Context, constants, createContext, runInContext } from 'node:vm';
import type { Control } from './program';

/*
 * For tests: a process with sandboxes as they are built without care, whose holes are known. A program that gets out of
 * none of them would get out of nothing, and shows nothing about ours.
 */

type Handler = (...all: unknown[]) => Promise<unknown>;

interface Order {
  code: string;
  control: Control;
  args: object;
}

// Programs leave failed promises behind, and change how errors are shown.
process.on('unhandledRejection', () => undefined);
process.on('uncaughtException', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (order: Order) => {
  run(order).then(
    (result) => process.send!(String(result)),
    (error) => process.send!(`failed: ${String(error)}`),
  );
});

async function run({ code, control, args }: Order): Promise<unknown> {
  const context = contexts[control]();
  const handler = runInContext(`(async (args, context, parley, fetch) => {\n${code}\n})`, context, {
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  }) as Handler;
  const { parley, fetch } = context as Record<string, unknown>;
  const once = () => handler({ list: [1, 2], ...args }, { who: 'me' }, parley, fetch);
  if (control === 'twice') await once();
  return once();
}

async function answer(what: unknown): Promise<object> {
  if (`${String(what)}` === 'fail') throw new Error('failed');
  return { what };
}

const host = () => ({
  console: { log: (...values: unknown[]) => void values.map((value) => JSON.stringify(value)) },
  setTimeout,
  fetch: (url: unknown): Promise<object> => answer(`${url as string}`),
  parley: { entity: { query: (args: unknown) => answer(args) }, fail: () => answer('fail') },
});

/** What goes wherever it is told to; where nobody is at home in a test, it says that it has gone. */
async function openFetch(address: string, init?: RequestInit): Promise<object> {
  const url = new URL(address);
  if (url.protocol === 'file:') return { text: async () => readFileSync(url, 'utf8') };
  if (url.hostname === '127.0.0.1' || url.hostname === '[::ffff:7f00:1]') {
    url.hostname = '127.0.0.1';
    return fetch(url, init);
  }
  return { status: 200, text: async () => `went to ${url.hostname}` };
}

/** Tools of any name, and in any namespace. */
const anyTool: object = new Proxy((args: object) => answer({ ...args }), { get: () => anyTool });
const names = { WebSocket: 1, std: { getenv: () => 'PATH' }, print: () => undefined };

/** A prelude that keeps the host's functions and the token in objects of the sandbox, and trusts its prototypes. */
const carelessPrelude = `
  let number = 0;
  const pending = new Map();
  const middleware = [host.settle];
  const send = (kind, text) => host.ask(kind, text);
  async function ask(kind, payload) {
    const message = {};
    message.payload = payload;
    message.token = 'Bearer token-of-the-call';
    pending.set(number++, host.settle);
    for (const one of [...middleware]) one(kind);
    return send.call(null, kind, JSON.stringify(message)).then(host.settle);
  }
  globalThis.fetch = (url) => ask('fetch', { url, authorization: 'Bearer of the service' });
  globalThis.parley = new Proxy({}, { get: (_, name) => (args) => ask(name, args) });
  globalThis.setTimeout = globalThis.URL = globalThis.crypto = { randomUUID() {} };`;

const contexts: Record<Control, () => Context> = {
  vm: () => createContext(host()),
  twice: () => createContext(host()),
  node: () =>
    createContext({
      ...host(),
      ...names,
      parley: anyTool,
      fetch: openFetch,
      process,
      require,
      module,
      Buffer,
      URL,
      AbortSignal,
    }),
  prelude: () => {
    const questions: Record<string, unknown> = { exec: () => 'uid=0' };
    const inner = {
      settle: (value: unknown) => value,
      ask: (kind: string) => (kind === 'exec' ? 'uid=0(root)' : Promise.resolve(questions[kind] ?? { ok: true })),
    };
    const context = createContext({ console: host().console, host: inner });
    runInContext(carelessPrelude, context);
    return context;
  },
};
