import { setTimeout as sleep } from 'node:timers/promises';
import { rounds } from '@parley/testing';
import { peakBytes } from './peak-bytes';
import { startOwnStack } from './stack';
import { type Tenant, createTenant } from './tenant';

// Services have the heap that V8 derives from the memory limit of their container
// (libs/embedded heapFlagsOf).

let stack: Awaited<ReturnType<typeof startOwnStack>>;
let large: Tenant;
let other: Tenant;
beforeAll(async () => {
  stack = await startOwnStack({
    services: ['data', 'manage', 'gateway'],
    environment: { RATE_LIMIT_PER_KEY: '100000', RATE_LIMIT_PER_ORGANIZATION: '100000' },
    environmentOf: { data: { NODE_ENV: 'production' }, manage: { NODE_ENV: 'production' } },
  });
  [large, other] = await Promise.all([createTenant(stack), createTenant(stack)]);
});
afterAll(async () => {
  await large?.close();
  await other?.close();
  await stack?.stop();
});

const mebibyte = 1_048_576;
/**
 * The memory limit of the containers of both services (docker/compose.yaml), and the part of it
 * that this test allows.
 */
const limitBytes = 512 * mebibyte;
const allowedBytes = 0.9 * limitBytes;

interface Answer {
  status: number;
  bytes: number;
  code?: string;
}

/** Sends a request and reads its whole answer. */
async function call(key: string, path: string, method = 'GET'): Promise<Answer> {
  const response = await fetch(stack.url + path, {
    method,
    headers: { Authorization: `Bearer ${key}` },
  });
  let bytes = 0;
  let text = '';
  for await (const piece of response.body!) {
    bytes += piece.byteLength;
    if (response.status !== 200) text += Buffer.from(piece).toString();
  }
  return {
    status: response.status,
    bytes,
    code: text === '' ? undefined : (JSON.parse(text) as Answer).code,
  };
}

const times = <T>(count: number, work: () => Promise<T>): Promise<T>[] =>
  Array.from({ length: count }, work);

/** Runs requests, and meanwhile the requests of another organization, each of which is answered. */
async function meanwhile(
  requests: Promise<Answer>[],
  key: string,
  path: string,
): Promise<Answer[]> {
  let isOver = false;
  const all = Promise.all(requests).finally(() => (isOver = true));
  let answered = 0;
  do {
    expect(await call(key, path)).toMatchObject({ status: 200 });
    answered += 1;
    // wall clock: the pace of another organization's requests.
    await sleep(50);
  } while (!isOver);
  expect(answered).toBeGreaterThan(0);
  return all;
}

const statusesOf = (answers: Answer[]) =>
  [...new Set(answers.map(({ status, code }) => code ?? status))].sort();

/** A thread with messages of 7 MiB, and threads whose contacts have names of 7 MiB. */
async function insertThreads({ scope, query }: Tenant): Promise<string> {
  const values = [scope.tenant];
  const text = `repeat(md5(n::text), ${(7 * mebibyte) / 32})`;
  await query(
    `insert into threads (id, tenant, environment, params, last_message_at, updated_at)
     select 'named' || n, $1, 'development', jsonb_build_object('contactName', ${text}), now(), now() from generate_series(1, 30) n`,
    values,
  );
  await query(
    `insert into executions (thread_id, tenant, environment, status, input, output, finished_at)
     select 'named1', $1, 'development', 'succeeded', ${text}, 'Yes', now() from generate_series(1, 1) n`,
    values,
  );
  await query(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
     select 'message' || n, tenant, thread_id, id, n, 'user', ${text} from executions, generate_series(1, 20) n where tenant = $1`,
    values,
  );
  const [execution] = await query('select id::text from executions where tenant = $1', values);
  return execution!.id as string;
}

test('lists, messages and executions of megabytes do not end manage, and others are answered', async () => {
  const execution = await insertThreads(large);
  const { key } = await large.client({ permissions: ['manage'] });
  const { key: otherKey } = await other.client({ permissions: ['manage'] });
  const { pid } = stack.services.manage!;
  const answers = await meanwhile(
    [
      ...times(6, () => call(key, '/v1/threads/named1/messages?limit=100')),
      ...times(3, () => call(key, '/v1/threads?limit=50')),
      ...times(8, () => call(key, '/v1/threads/named1/messages/message7')),
      ...times(4, () => call(key, '/v1/threads/named7')),
      ...times(6, () => call(key, `/v1/executions/${execution}`)),
    ],
    otherKey,
    '/v1/threads',
  );
  expect(statusesOf(answers)).toContain(200);
  expect([200, 'too_many_large_reads', 'unavailable']).toEqual(
    expect.arrayContaining(statusesOf(answers)),
  );
  expect(await call(key, '/v1/threads/named1/messages/message7')).toMatchObject({ status: 200 });
  expect(stack.services.manage!.pid).toBe(pid);
  expect(await peakBytes(stack.services.manage!)).toBeLessThan(allowedBytes);
}, 60_000);

test('pulls of definitions of 74 MB do not end data, and others are answered', async () => {
  await large.query(
    `insert into tools (id, tenant, environment, name, definition, updated_at)
     select 'tool' || n, $1, 'development', 'old.tool' || n, json_build_object('name', 'old.tool' || n, 'description', 'd',
       'parameters', json_build_object('type', 'object'), 'handlerCode', repeat(md5(n::text), 9700)), now() from generate_series(1, 240) n`,
    [large.scope.tenant],
  );
  const { key } = await large.client({ permissions: ['sync'] });
  const { key: otherKey } = await other.client({ permissions: ['data'] });
  const { pid } = stack.services.data!;
  const startedAt = performance.now();
  const answers = await meanwhile(
    [
      ...times(rounds(2, 4), () => call(key, '/v1/sync/pull', 'POST')),
      ...times(rounds(1, 2), () => call(key, '/v1/sync/state', 'POST')),
    ],
    otherKey,
    '/v1/entity-types',
  );
  expect([200, 'too_many_syncs']).toEqual(expect.arrayContaining(statusesOf(answers)));
  expect(Math.max(...answers.map(({ bytes }) => bytes))).toBeGreaterThan(70_000_000);
  // Pulls are sent at 8 MiB a second, so that others are served beside them.
  expect(performance.now() - startedAt).toBeGreaterThan(8_000);
  expect(stack.services.data!.pid).toBe(pid);
  expect(await peakBytes(stack.services.data!)).toBeLessThan(allowedBytes);
}, 60_000);
