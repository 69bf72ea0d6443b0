import { spawn } from 'node:child_process';
import type { Scope, TriggerDefinition } from '@parley/contracts';
import { seedOrganization, until } from '@parley/testing';
import { bundle } from './testing/built-command';
import { type Cli, openCli } from './testing/run-command';
import { type ManageUnderTest, startManage } from './testing/manage-under-test';

let cli: Cli;
let stack: ManageUnderTest;
let db: ManageUnderTest['db']['pool'];
let scope: Scope;
let env: Record<string, string>;

beforeAll(async () => {
  cli = openCli();
  stack = await startManage();
  db = stack.db.pool;
  const seeded = await seedOrganization(db, { slug: 'acme', permissions: ['manage'] });
  ({ scope } = seeded);
  env = stack.envOf(seeded.key);
  await trigger({
    slug: 'paid',
    on: { entityType: 'order', action: 'updated', condition: { 'data.status': 'paid' } },
  });
  await trigger({
    slug: 'nightly',
    on: { schedule: '0 3 * * *', timezone: 'Europe/Madrid' },
    enabled: false,
  });
}, 60_000);
afterAll(async () => {
  cli.remove();
  await stack.close();
});

async function trigger(
  given: Pick<TriggerDefinition, 'slug' | 'on'> & { enabled?: boolean },
): Promise<void> {
  const { slug, on, enabled = true } = given;
  const definition = { slug, name: slug, on, actions: [{ tool: 'entity.get', args: {} }] };
  const ofType = 'entityType' in on ? on : null;
  await db.query(
    `insert into triggers (id, tenant, environment, slug, name, enabled, entity_type, action, definition, updated_at)
     values ($1, $2, $3::"Environment", $1, $1, $4, $5, $6, $7, now())`,
    [
      slug,
      scope.tenant,
      scope.environment,
      enabled,
      ofType?.entityType ?? null,
      ofType?.action ?? null,
      JSON.stringify(definition),
    ],
  );
}

async function run(id: string, rest: Record<string, unknown> = {}): Promise<void> {
  const row = {
    status: 'succeeded',
    error: null,
    hops: 1,
    attempts: 1,
    steps: [],
    refused: 0,
    ...rest,
  };
  await db.query(
    `insert into trigger_runs (id, tenant, environment, trigger_slug, cause, entity_id, status, error, hops, attempts,
       run_at, context, steps, refused_runs) values ($1, $2, $3::"Environment", 'paid', 'event-' || $1, 'ent_1', $4::"TriggerRunStatus", $5, $6, $7, now(), '{}', $8, $9)`,
    [
      id,
      scope.tenant,
      scope.environment,
      row.status,
      row.error,
      row.hops,
      row.attempts,
      JSON.stringify(row.steps),
      row.refused,
    ],
  );
}
const statusOf = async (id: string) =>
  (
    await db.query(
      'select status::text, max_attempts, fence, lease_expirations, error from trigger_runs where id = $1',
      [id],
    )
  ).rows[0];
const json = async (...args: string[]) =>
  JSON.parse(await cli.succeed([...args, '--json'], { env }));

test('triggers and their runs are listed, and a run is shown with its steps', async () => {
  await run('run_1');
  const steps = [
    {
      tool: 'entity.create',
      as: 'note',
      status: 'success',
      attempt: 1,
      startedAt: 1,
      durationMs: 3,
      result: { id: 'ent_2' },
    },
    {
      tool: 'web.fetch',
      status: 'error',
      attempt: 1,
      startedAt: 5,
      durationMs: 9,
      error: 'no \u001b[31manswer',
      args: { a: 1 },
    },
  ];
  await run('run_2', { status: 'dead', error: 'web.fetch: no answer', steps });
  const table = await cli.succeed(['triggers', 'list'], { env });
  expect(table).toMatch(/^TRIGGER +ON +NEXT +SCHEDULED +RUNNING +SUCCEEDED +DEAD/m);
  expect(table).toMatch(/^paid +order updated if data\.status +- +0 +0 +1 +1$/m);
  expect(table).toMatch(/^nightly +0 3 \* \* \* +- +0 +0 +0 +0 +disabled$/m);

  const { data, cursor } = await json('triggers', 'runs', 'paid', '--limit', '1');
  expect(data).toMatchObject([{ id: 'run_2', status: 'dead' }]);
  expect((await json('triggers', 'runs', 'paid', '--cursor', cursor)).data).toMatchObject([
    { id: 'run_1' },
  ]);
  expect((await json('triggers', 'runs', '--status', 'dead')).data).toHaveLength(1);
  expect((await json('triggers', 'runs', '--entity', 'ent_9')).data).toHaveLength(0);

  const shown = await cli.succeed(['triggers', 'show', 'run_2'], { env });
  expect(shown).toContain('1. entity.create as note');
  expect(shown).toContain('ok, attempt 1, 3 ms  {"id":"ent_2"}');
  expect(shown).toContain('2. web.fetch {"a":1}');
  expect(shown).toContain('error, attempt 1, 9 ms  no \\u001b[31manswer');
  expect(await json('triggers', 'show', 'run_2')).toMatchObject({
    steps,
    error: 'web.fetch: no answer',
  });
  expect(await cli.parley(['triggers', 'show', 'run_9'], { env })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Trigger run not found'),
  });
});

test('the record of refused runs shows their number and cannot be retried', async () => {
  await run('run_refused7', { status: 'dead', error: 'Refused runs: 12. At most 5', refused: 12 });
  expect(await cli.succeed(['triggers', 'runs', '--status', 'dead'], { env })).toContain(
    'Refused runs: 12. At most 5',
  );
  expect(await cli.succeed(['triggers', 'show', 'run_refused7'], { env })).toMatch(
    /^ *refused +12$/m,
  );
  expect(await json('triggers', 'show', 'run_refused7')).toMatchObject({
    refusedRuns: 12,
    root: 'run_refused7',
  });
  expect(await cli.parley(['triggers', 'retry', 'run_refused7'], { env })).toMatchObject({
    exitCode: 1,
  });
  await db.query(`delete from trigger_runs where id = 'run_refused7'`);
});

test('dead runs are retried by id or trigger, except at the end of a chain, and unfinished runs are cancelled', async () => {
  await run('run_3', { status: 'dead', attempts: 3 });
  await run('run_4', { status: 'dead', hops: 6 });
  await db.query(`update trigger_runs set lease_expirations = 51 where id = 'run_3'`);
  expect((await json('triggers', 'retry', 'run_3')).runs).toEqual(['run_3']);
  expect(await statusOf('run_3')).toMatchObject({
    status: 'scheduled',
    max_attempts: 4,
    lease_expirations: 0,
    error: null,
  });
  await json('triggers', 'retry', 'paid');
  expect(await statusOf('run_4')).toMatchObject({ status: 'dead' });
  expect(await cli.parley(['triggers', 'retry', 'run_4'], { env })).toMatchObject({ exitCode: 1 });

  await run('run_5', { status: 'running' });
  expect((await json('triggers', 'cancel', 'run_5', 'run_3')).runs).toHaveLength(2);
  expect(await statusOf('run_5')).toMatchObject({
    status: 'cancelled',
    fence: 1,
    error: 'Cancelled by hand',
  });
  expect(await statusOf('run_3')).toMatchObject({ status: 'cancelled' });
  expect(await cli.parley(['triggers', 'cancel', 'run_1'], { env })).toMatchObject({ exitCode: 1 });
});

test('a trigger is disabled and enabled', async () => {
  expect(await cli.succeed(['triggers', 'disable', 'paid'], { env })).toMatch(
    /^paid is disabled until/,
  );
  expect(await cli.succeed(['triggers', 'list'], { env })).toMatch(/^paid .* disabled$/m);
  expect(await json('triggers', 'enable', 'paid')).toEqual({ slug: 'paid', enabled: true });
  expect(await cli.parley(['triggers', 'enable', 'nope'], { env })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Trigger nope not found'),
  });
});

const emit = (type: string, entityId: string | null, text: string) =>
  db.query(
    `insert into events (tenant, environment, type, entity_type, entity_id, payload, actor)
     values ($1, $2::"Environment", $3, 'order', $4, $5, '{"type":"system"}')`,
    [scope.tenant, scope.environment, type, entityId, JSON.stringify({ data: { text } })],
  );

test('events tail prints past and new events', async () => {
  await emit('entity.created', 'ent_1', 'before');
  await emit('payment.paid', null, 'other');
  const shown = await cli.succeed(['events', 'tail', '--once', '--type', 'entity.*'], { env });
  expect(shown).toMatch(
    /^\S+ \S+ {2}entity\.created order ent_1 by system {"data":{"text":"before"}}$/,
  );
  const tail = spawn(process.execPath, [bundle, 'events', 'tail', '--json', '--last', '1'], {
    env: { PATH: process.env.PATH, ...env },
  });
  let printed = '';
  tail.stdout.on('data', (chunk) => (printed += chunk));
  const lines = async (count: number) => {
    await until(() => printed, {
      isThere: (text) => text.split('\n').length > count,
      limitMs: 20_000,
    });
    return printed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).payload.data.text);
  };
  try {
    expect(await lines(1)).toEqual(['other']);
    await emit('entity.updated', 'ent_1', 'first');
    await emit('entity.updated', 'ent_2', 'second');
    expect(await lines(3)).toEqual(['other', 'first', 'second']);
  } finally {
    tail.kill();
  }
}, 60_000);
