import { readFileSync } from 'node:fs';
import { type Context, constants, createContext, runInContext } from 'node:vm';
import type { Control } from './program';

/*
 * A process with naive sandboxes, whose weaknesses are known. A program that cannot escape from any
 * of them would prove nothing about the real sandbox.
 */

type Handler = (...all: unknown[]) => Promise<unknown>;

interface RunRequest {
  code: string;
  control: Control;
  args: object;
}

// Programs leave rejected promises behind, and change how errors are formatted.
process.on('unhandledRejection', () => undefined);
process.on('uncaughtException', () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (request: RunRequest) => {
  run(request).then(
    (result) => process.send!(String(result)),
    (error) => process.send!(`failed: ${String(error)}`),
  );
});

async function run({ code, control, args }: RunRequest): Promise<unknown> {
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

/**
 * A fetch without any check. For an address that a test cannot reach it returns an answer, as if it
 * had been reached.
 */
async function openFetch(address: string, init?: RequestInit): Promise<object> {
  const url = new URL(address);
  if (url.protocol === 'file:') return { text: async () => readFileSync(url, 'utf8') };
  if (url.hostname === '127.0.0.1' || url.hostname === '[::ffff:7f00:1]') {
    url.hostname = '127.0.0.1';
    return fetch(url, init);
  }
  return { status: 200, text: async () => `reached ${url.hostname}` };
}

/** Tools of any name, and in any namespace. */
const anyTool: object = new Proxy((args: object) => answer({ ...args }), { get: () => anyTool });
const names = { WebSocket: 1, std: { getenv: () => 'PATH' }, print: () => undefined };

/**
 * A prelude that stores the host's functions and the token in objects of the sandbox, and
 * trusts its prototypes.
 */
const naivePrelude = `
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
    const operations: Record<string, unknown> = { exec: () => 'uid=0' };
    const inner = {
      settle: (value: unknown) => value,
      ask: (kind: string) =>
        kind === 'exec' ? 'uid=0(root)' : Promise.resolve(operations[kind] ?? { ok: true }),
    };
    const context = createContext({ console: host().console, host: inner });
    runInContext(naivePrelude, context);
    return context;
  },
};
