import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Operation, openApiDocument, operationsOf } from '@parley/contracts';
import { type TestApi, type World, createTestApi } from './testing/create-test-api';
import { samples } from './testing/samples';
import type { ManageOperation, Sample } from './testing/samples/sample';
import { createManageApp } from './app';

const { paths } = openApiDocument();

/** FUZZ_REQUESTS=1000 sends more to each operation. */
const requestsPerOperation = Number(process.env.FUZZ_REQUESTS ?? 60);

let api: TestApi;
let server: Server;
let address: string;
let world: World;
let key: string;
beforeAll(async () => {
  api = await createTestApi();
  server = createServer(createManageApp(api.deps));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  world = await api.world();
  key = await api.keyOf(world.scope, ['manage', 'sync']);
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await api.close();
});

/** Deterministic numbers from 0 to 1 (mulberry32), so that a failure can be repeated. */
function randomOf(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const texts = [
  '',
  '0',
  '-1',
  '1e400',
  '9223372036854775807',
  '99999999999999999999',
  'null',
  "' or 1=1 --",
  '${7*7}{{x}}',
  '../../etc/passwd',
  'ñandú 🦤 \u202e',
  '\u0000',
  '\ud800',
  'a'.repeat(300),
  'x'.repeat(70_000),
  '2026-02-30',
  'c1.WyJhIiwiMSIsIngiXQ',
];
const others = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  1763683200000,
  [],
  {},
  [[]],
  { $gt: '' },
  ['a'],
  [null],
];

/** A copy of `value` with some of its parts replaced, removed or added. */
function vary(value: unknown, random: () => number): unknown {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  if (random() < 0.2) return pick<unknown>([...texts, ...others]);
  if (Array.isArray(value))
    return random() < 0.2 ? [...value, ...value, pick(others)] : value.map((x) => vary(x, random));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(() => random() > 0.15);
    const varied = entries.map(([name, x]) => [name, random() < 0.5 ? x : vary(x, random)]);
    if (random() < 0.15)
      varied.push([pick(['__proto__', 'constructor', 'extra', 'ñ', '']), pick(others)]);
    return Object.fromEntries(varied);
  }
  return value;
}

function requestOf(
  { path, query: querySchema, body }: Operation,
  sample: Sample,
  random: () => number,
) {
  const some = (value: string) =>
    random() < 0.4 ? texts[Math.floor(random() * texts.length)]! : value;
  const filled = path.replace(
    /:(\w+)/g,
    (_, name: string) => encode(some(sample.params?.[name] ?? 'x').slice(0, 500)) || 'x',
  );
  const names = Object.keys(querySchema?.shape ?? {});
  const query = names
    .filter(() => random() < 0.3)
    .map((name) => `${name}=${encode(some(sample.query?.[name] ?? '1'))}`);
  return {
    // Node refuses headers that are larger than 16 KiB.
    url: `${filled}?${query.join('&').slice(0, 7_000)}`,
    body: body === undefined ? undefined : JSON.stringify(vary(sample.body, random)),
  };
}

/** encodeURIComponent refuses half of a surrogate pair. */
const encode = (text: string) => encodeURIComponent(text.toWellFormed());

const operations = Object.entries<Operation>({
  ...operationsOf.manage,
  ...operationsOf.toolSecrets,
}).filter(([, { responseType }]) => responseType === undefined) as [ManageOperation, Operation][];

test.each(operations)(
  '%s answers varied requests without a 5xx, within its schema',
  async (id, operation) => {
    const random = randomOf(id.length * 7919 + 1);
    let sample = await samples[id](world);
    for (let i = 0; i < requestsPerOperation; i++) {
      if (operation.method !== 'get' && i % 20 === 19) sample = await samples[id](world);
      const { url, body } = requestOf(operation, sample, random);
      const response = await fetch(address + url, {
        method: operation.method.toUpperCase(),
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': 'application/json',
          ...sample.headers,
        },
        body,
        redirect: 'manual',
      });
      const text = await response.text();
      const sent = `${operation.method} ${url} ${body} → ${response.status} ${text}`.slice(
        0,
        2_000,
      );
      if (response.status >= 500) throw new Error(sent);
      if (response.status === 204) continue;
      // Successful answers are checked by the service (`checkResponses`), which would
      // answer with 500.
      if (response.status >= 400) {
        expect(JSON.parse(text)).toMatchObject({
          error: expect.stringMatching(/./),
          code: expect.any(String),
        });
        const documented =
          paths[operation.path.replace(/:(\w+)/g, '{$1}')]![operation.method]!.responses;
        if (documented[response.status] === undefined) throw new Error(`not documented: ${sent}`);
      }
    }
  },
  300_000,
);
