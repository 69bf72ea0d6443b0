import { z } from 'zod';
import { createMetrics } from './metrics';
import { createWorkMetrics, modelPriceVariables, observeReplica } from './work-metrics';

interface Choice {
  candidates: [string, ...string[]];
}

/** The values of a metric by its labels, as `label=value,…`, without the label of the service. */
async function read(
  metrics: ReturnType<typeof createMetrics>,
  name: string,
): Promise<Record<string, number>> {
  const lines = (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`));
  return Object.fromEntries(
    lines.map((line) => {
      const [, labels = '', value] = /\{(.*)\} (\S+)$/.exec(line)!;
      const own = labels.split(',').filter((label) => !label.startsWith('service='));
      return [own.sort().join(',').replaceAll('"', ''), Number(value)];
    }),
  );
}

it('counts model calls by outcome, tokens and cost', async () => {
  const metrics = createMetrics('chat');
  const { observeModels } = createWorkMetrics(metrics, {
    prices: { 'openai/a': { input: 1, output: 10 } },
  });
  const usage = { inputTokens: 2_000_000, outputTokens: 100_000 };
  const models = observeModels({
    warmed: true,
    complete: async (_scope: object, { candidates: [model] }: Choice) =>
      model === 'broken'
        ? ({ ok: false, reason: 'timeout', model, durationMs: 1 } as const)
        : ({ ok: true, model, durationMs: 300, reply: { usage } } as const),
  });
  expect(models.warmed).toBe(true);
  for (const model of ['openai/a', 'unpriced/b', 'broken'])
    await models.complete({}, { candidates: [model] });
  expect(await read(metrics, 'model_tokens_total')).toMatchObject({
    'direction=input,model=openai/a': 2_000_000,
    'direction=output,model=openai/a': 100_000,
  });
  expect(await read(metrics, 'model_cost_usd_total')).toEqual({ 'model=openai/a': 3 });
  expect(await read(metrics, 'model_call_duration_seconds_count')).toMatchObject({
    'model=broken,outcome=timeout': 1,
  });
});

it('bounds the labels: more than 100 models, and tools that are not built-in, share a label', async () => {
  const metrics = createMetrics('chat');
  const { observeModels, observeTools } = createWorkMetrics(metrics);
  const { complete } = observeModels({
    complete: async (_scope: object, { candidates: [model] }: Choice) =>
      ({ ok: false, reason: 'failed', model, durationMs: 1 }) as const,
  });
  for (let at = 0; at < 120; at += 1) await complete({}, { candidates: [`p/${at}`] });
  const tools = observeTools(
    { run: async (_scope: object, _call: { name: string }) => ({ ok: true }) as const },
    ['entity.get'],
  );
  for (const name of ['entity.get', 'mine', 'mcp.x.y']) await tools.run({}, { name });
  const calls = await read(metrics, 'model_call_duration_seconds_count');
  expect([Object.keys(calls).length, calls['model=other,outcome=failed']]).toEqual([101, 20]);
  expect(Object.keys(await read(metrics, 'tool_call_duration_seconds_count'))).toEqual([
    'outcome=ok,tool=entity.get',
    'outcome=ok,tool=custom',
    'outcome=ok,tool=mcp',
  ]);
});

it('counts decisions of the rate limit', async () => {
  const metrics = createMetrics('data');
  const answers: (number | Promise<number>)[] = [0, Promise.resolve(5), Promise.resolve(0)];
  const limiter = createWorkMetrics(metrics).observeLimiter(() => ({
    blockedUntil: (key: { untilMs?: number }) => key.untilMs ?? 0,
    admit: (_key: object) => answers.shift()!,
  }));
  expect([limiter.admit({}), await limiter.admit({}), await limiter.admit({})]).toEqual([0, 5, 0]);
  expect([limiter.blockedUntil({ untilMs: 9 }), limiter.blockedUntil({})]).toEqual([9, 0]);
  expect(await read(metrics, 'rate_limit_decisions_total')).toEqual({
    'decision=admitted': 2,
    'decision=refused': 2,
  });
});

it('reads the pool when the metrics are read', async () => {
  const metrics = createMetrics('data');
  const pool = { totalCount: 1, idleCount: 0, waitingCount: 0 };
  createWorkMetrics(metrics).watchPool(pool);
  pool.totalCount = 7;
  expect(await read(metrics, 'database_pool_connections')).toEqual({
    'state=total': 7,
    'state=idle': 0,
    'state=waiting': 0,
  });
});

it('counts reads by the server that answered, and shows the lag while it is known', async () => {
  const metrics = createMetrics('manage');
  let lag: number | null = null;
  observeReplica(metrics, (onRead) => {
    for (const server of ['replica', 'replica', 'primary'] as const) onRead(server);
    return { lagSeconds: () => lag };
  });
  expect(await read(metrics, 'database_reads_total')).toEqual({
    'server=replica': 2,
    'server=primary': 1,
  });
  expect(await read(metrics, 'database_replica_lag_seconds')).toEqual({});
  lag = 0.25;
  expect(await read(metrics, 'database_replica_lag_seconds')).toEqual({ '': 0.25 });
});

it('parses prices and refuses invalid ones', () => {
  const shape = z.object(modelPriceVariables);
  expect(shape.parse({})).toEqual({ MODEL_PRICES: {} });
  expect(
    shape.parse({ MODEL_PRICES: '{"a/b":{"input":1,"output":2}}' }).MODEL_PRICES['a/b']!.output,
  ).toBe(2);
  for (const wrong of ['1', '{', '{"a/b":{"input":-1,"output":2}}']) {
    expect(shape.safeParse({ MODEL_PRICES: wrong }).success).toBe(false);
  }
});

it('shows the turns that run, and none when they have ended or failed', async () => {
  const metrics = createMetrics('chat');
  const ends: PromiseWithResolvers<string>[] = [];
  const turn = () => {
    const end = Promise.withResolvers<string>();
    ends.push(end);
    return end.promise;
  };
  const agents = createWorkMetrics(metrics).observeTurns({
    chat: turn,
    runExecution: turn,
    name: 'agents',
  });
  expect([agents.name, await read(metrics, 'turns_in_flight')]).toEqual(['agents', { '': 0 }]);
  const turns = [agents.chat(), agents.chat(), agents.runExecution()];
  expect(await read(metrics, 'turns_in_flight')).toEqual({ '': 3 });
  ends[0]!.resolve('answered');
  ends[1]!.reject(new Error('The model is not reachable'));
  await Promise.allSettled(turns.slice(0, 2));
  expect(await read(metrics, 'turns_in_flight')).toEqual({ '': 1 });
  ends[2]!.resolve('answered');
  expect(await turns[2]).toBe('answered');
  expect(await read(metrics, 'turns_in_flight')).toEqual({ '': 0 });
});
