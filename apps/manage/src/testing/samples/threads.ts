import type { World } from '../create-test-api';
import { insertExecution } from './executions';
import type { Prepare } from './sample';

/** A thread with an execution. Returns its id. */
export async function thread(world: World): Promise<string> {
  const execution = await insertExecution(world);
  const { rows } = await world.db.pool.query<{ id: string }>(
    'select thread_id as id from executions where tenant = $1 and id = $2',
    [world.scope.tenant, execution],
  );
  return rows[0]!.id;
}

const theThread: Prepare = async (world) => ({ params: { id: await thread(world) } });

export const threadSamples = {
  async listThreads(world) {
    await thread(world);
    return { query: { agent: 'helper', state: 'agent' } };
  },
  getThread: theThread,
  listThreadMessages: theThread,
  getThreadMessage: async (world) => {
    const id = await thread(world);
    const sql = 'select id from thread_messages where thread_id = $1 limit 1';
    const { rows } = await world.db.pool.query<{ id: string }>(sql, [id]);
    return { params: { id, messageId: rows[0]!.id } };
  },
  countThreads: async () => ({}),
  replyToThread: async (world) => ({
    params: { id: await thread(world) },
    body: { text: 'Yes, two are left.' },
  }),
  addThreadNote: async (world) => ({
    params: { id: await thread(world) },
    body: { text: 'Paid in the shop.' },
  }),
  takeOverThread: async (world) => ({
    params: { id: await thread(world) },
    body: { until: Date.now() + 3_600_000 },
  }),
  resumeThread: async (world) => ({
    params: { id: await thread(world) },
    body: { note: 'She gets 10% off.' },
  }),
  changeThread: async (world) => ({
    params: { id: await thread(world) },
    body: {
      status: 'closed',
      assigneeId: (await world.api.person(world, 'member')).id,
      labels: ['order'],
    },
  }),
  eraseThread: theThread,
  readThread: theThread,
  visitThread: async (world) => ({ params: { id: await thread(world) }, body: { isOpen: true } }),
} satisfies Record<string, Prepare>;
