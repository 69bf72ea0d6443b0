import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Db, createDb } from '@parley/db';
import {
  type ModelServer,
  type SeededOrganization,
  type Stack,
  openTestDatabase,
  rounds,
  seedOrganization,
  startModelServer,
  startStack,
  until,
} from '@parley/testing';

/** Real processes: one is killed during many turns, and the other continues their threads. */
const root = resolve(__dirname, '../../..');
const bundles = join(root, 'dist', `chat-test-${process.pid}`);
const threadsAtOnce = 8;
/** The number of model calls in a round after which the process is killed. */
const killAfter = [1, 9, 15, 6, 12].slice(0, rounds(3, 5));
const kills = killAfter.length;

let db: Db & { url: string };
let models: ModelServer;
let org: SeededOrganization;
let victim: Stack;
let survivor: Stack;

beforeAll(async () => {
  const script = `
    import { build } from 'esbuild';
    import { buildOptions } from ${JSON.stringify(join(root, 'tools', 'build.mjs'))};
    await build({ ...buildOptions(['chat']), outdir: ${JSON.stringify(bundles)} });`;
  execFileSync(process.execPath, ['--input-type=module', '-e', script, 'build'], { cwd: root });
  db = await openTestDatabase(createDb);
  models = await startModelServer(async ({ messages }) => {
    // wall clock: answers take different times, so that a kill interrupts different steps.
    await sleep(Math.random() * 30);
    const said = messages.findLast(({ role }) => role === 'user')!.text;
    if (messages.at(-1)!.role === 'tool' || !said.startsWith('buy')) return { text: `re: ${said}` };
    return {
      toolCalls: [{ name: 'entity_create', args: { type: 'order', data: { marker: said } } }],
    };
  });
  org = await seedOrganization(db.pool, {
    agents: [{ slug: 'seller', tools: ['entity.create'] }],
    entityTypes: [{ slug: 'order', name: 'Order', schema: { marker: 'string' } }],
  });
  const options = {
    databaseUrl: db.url,
    redisUrl: 'redis://127.0.0.1:1',
    bundles,
    services: ['chat' as const],
    environment: { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: models.urls.openai, LOG_LEVEL: 'warn' },
  };
  [victim, survivor] = await Promise.all([startStack(options), startStack(options)]);
}, 120_000);
afterAll(async () => {
  await Promise.all([victim?.stop(), survivor?.stop()]);
  await models.stop();
  await db.close();
  rmSync(bundles, { recursive: true, force: true });
});

async function say(stack: Stack, thread: string, message: string): Promise<number> {
  const response = await fetch(`${stack.services.chat!.url}/v1/agents/seller/chat`, {
    method: 'POST',
    headers: { authorization: `Bearer ${org.key}` },
    body: JSON.stringify({ message, externalThreadId: thread }),
  });
  await response.text();
  return response.status;
}

it(`${kills} kills during ${threadsAtOnce} turns each: threads answer again, no effect is repeated, histories stay valid`, async () => {
  const acknowledged: string[] = [];
  let cutOff = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const threads = Array.from({ length: threadsAtOnce }, (_, n) => `k${kill}-t${n}`);
    await Promise.all(threads.map((thread) => say(victim, thread, 'hello')));
    const asked = models.requests.length;
    const turns = threads.map(async (thread) => {
      // Turns begin at different times, so that a kill interrupts them at different points.
      // wall clock: a beginning at a random moment.
      await sleep(Math.random() * 60);
      const said = `buy ${thread}`;
      const status = await say(victim, thread, said).catch(() => 0);
      if (status === 200) acknowledged.push(said);
      else cutOff += 1;
    });
    // Each turn calls the model twice. Processes are killed early, in the middle, and after most
    // turns have called a tool.
    await until(() => models.requests.length - asked >= killAfter[kill]!, { everyMs: 2 });
    // wall clock: a kill at a random moment.
    await sleep(Math.random() * 20);
    await victim.services.chat!.kill();
    await Promise.all(turns);
    const killedAt = performance.now();
    const answers = await Promise.all(
      threads.map((thread) => say(survivor, thread, 'still there?')),
    );
    expect(answers).toEqual(threads.map(() => 200));
    // The lease of a turn is 4 s; the rest is for a busy machine.
    expect(performance.now() - killedAt).toBeLessThan(30_000);
    await victim.services.chat!.start();
  }
  expect(models.problems).toEqual([]);
  expect(cutOff).toBeGreaterThan(0);

  const { rows: made } = await db.pool.query<{ marker: string; count: string }>(
    "select data->>'marker' as marker, count(*) from entities group by 1",
  );
  expect(made.filter(({ count }) => count !== '1')).toEqual([]);
  expect(made.map(({ marker }) => marker)).toEqual(expect.arrayContaining(acknowledged));
  const { rows: open } = await db.pool.query(
    "select id from executions where status in ('queued', 'running')",
  );
  expect(open).toEqual([]);
  const { rows: replies } = await db.pool.query<{ input: string }>(
    "select input from executions where status = 'succeeded' and input like 'buy%'",
  );
  expect(replies.map(({ input }) => input)).toEqual(expect.arrayContaining(acknowledged));
}, 120_000);
