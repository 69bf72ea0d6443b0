import { newId } from '@parley/db';
import type { Prepare } from './sample';
import type { World } from '../create-test-api';

/** An execution that has called a tool and answered. Returns its id. */
export async function insertExecution({ db, scope }: Pick<World, 'db' | 'scope'>): Promise<string> {
  const { tenant, environment } = scope;
  const threadId = newId('thread');
  const values = [threadId, tenant, environment];
  await db.pool.query(
    `insert into threads (id, tenant, environment, agent_slug, last_message_at, updated_at)
     values ($1, $2, $3::"Environment", 'helper', now(), now())`,
    values,
  );
  const steps = [
    {
      kind: 'model',
      name: 'openai/test',
      durationMs: 5,
      status: 'success',
      inputTokens: 7,
      outputTokens: 3,
    },
    {
      kind: 'tool',
      callId: 'call_1',
      name: 'order.find',
      durationMs: 2,
      status: 'success',
      permission: { allowed: true, reason: 'the agent has no roles', policies: [] },
    },
  ];
  const { rows } = await db.pool.query<{ id: string }>(
    `insert into executions (thread_id, tenant, environment, agent_slug, agent_revision, status, input, output, model, iterations,
       input_tokens, output_tokens, steps, tool_call_count, started_at, finished_at, prompt_hash)
     values ($1, $2, $3::"Environment", 'helper', 3, 'succeeded', 'Where is it?', 'Here', 'openai/test', 1, 7, 3, $4, 1, now(),
       now() + interval '20 milliseconds', sha256('p')) returning id::text`,
    [...values, JSON.stringify(steps)],
  );
  const id = rows[0]!.id;
  await db.pool.query(
    `insert into execution_prompts (tenant, hash, text, bytes, tools) values ($1, sha256('p'), 'You sell.', 9, '{order.find}')
     on conflict do nothing`,
    [tenant],
  );
  await db.pool.query(
    `insert into tool_calls (tenant, execution_id, call_id, name, args, status, result, finished_at)
     values ($1, $2, 'call_1', 'order.find', '{"n":1}', 'succeeded', '{"ok":true,"result":{"n":1},"logs":[{"level":"log","message":"found"}]}', now())`,
    [tenant, id],
  );
  await db.pool.query(
    `insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
     values ($1 || 'm', $2, $1, $3, 0, 'user', 'Where is it?')`,
    [threadId, tenant, id],
  );
  return id;
}

/** An agent with a definition in the environment. */
export async function insertAgent(
  { db, scope }: Pick<World, 'db' | 'scope'>,
  slug = 'helper',
  definition: object = {},
) {
  const id = newId('agent');
  await db.pool.query(
    `insert into agents (id, tenant, slug) values ($1, $2, $3) on conflict (tenant, slug) do nothing`,
    [id, scope.tenant, slug],
  );
  await db.pool.query(
    `insert into agent_configs (id, tenant, agent_id, environment, name, definition, updated_at)
     select $1 || 'c', a.tenant, a.id, $3::"Environment", $2, $4::json, now() from agents a where a.tenant = $5 and a.slug = $2
     on conflict do nothing`,
    [
      id,
      slug,
      scope.environment,
      { name: slug, model: 'offline/scripted', ...definition },
      scope.tenant,
    ],
  );
}

export const executionSamples = {
  async listExecutions(world) {
    await insertExecution(world);
    return { query: { agent: 'helper', status: 'succeeded', toolErrors: 'false', since: '1' } };
  },
  async getExecution(world) {
    return { params: { id: await insertExecution(world) } };
  },
  async startExecution(world) {
    await insertAgent(world);
    return { body: { agentSlug: 'helper', message: 'Hello' } };
  },
  async streamExecution(world) {
    return { params: { id: await insertExecution(world) }, query: { after: '0' } };
  },
  async streamThread(world) {
    const { rows } = await world.db.pool.query<{ id: string }>(
      `update executions set status = 'running', background = '{"callerId":"key_other"}' where id = $1 returning thread_id as id`,
      [await insertExecution(world)],
    );
    return { params: { id: rows[0]!.id } };
  },
  async cancelExecution(world) {
    const id = await insertExecution(world);
    await world.db.pool.query(
      `update executions set background = '{"callerId":"key_other"}' where id = $1`,
      [id],
    );
    return { params: { id } };
  },
} satisfies Record<string, Prepare>;
