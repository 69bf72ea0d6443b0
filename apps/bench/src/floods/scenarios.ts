import { randomUUID } from 'node:crypto';
import { orderPaid } from '../webhooks/deliveries';
import { type Flood, type FloodBench, keepRequests, keepSockets, statusOf, succeed } from './bench';

const mebibyte = 1024 * 1024;

const head = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
const listThreads = (bench: FloodBench) => succeed(bench, bench.other, '/v1/threads');
const post = (body: object) => ({ method: 'POST', body: JSON.stringify(body) });

async function deliverOrder({ stack, other }: FloodBench): Promise<void> {
  const { path, body, headers } = orderPaid(other.id, randomUUID(), 100);
  const init = {
    method: 'POST',
    body,
    headers: { ...headers(), 'Content-Type': 'application/json' },
  };
  const response = await fetch(stack.url + path, init);
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
}

let executionId = '';
let longThread = '';

/** Who does what. The bar is the same for all of them. */
export const floods: Flood[] = [
  {
    name: 'slow bodies without a key to webhooks',
    keepUp: ({ stack }, signal) =>
      keepSockets(stack, head('POST /webhook/kapso/messages', 'Content-Length: 900000'), signal),
    call: deliverOrder,
  },
  {
    name: 'slow bodies without a key to the sign-in',
    keepUp: ({ stack }, signal) =>
      keepSockets(
        stack,
        head('POST /v1/sessions', 'Sec-Fetch-Site: same-origin', 'Content-Length: 900000'),
        signal,
      ),
    call: listThreads,
  },
  {
    name: 'waits of one key',
    async seed({ busy }) {
      // No worker runs, so it stays queued.
      executionId = String(
        (await busy.post('/v1/executions', { agentSlug: 'shop', message: 'Hello' })).executionId,
      );
    },
    keepUp: (bench, signal) =>
      keepRequests(560, signal, () =>
        statusOf(bench, bench.busy, `/v1/executions/${executionId}?wait=30`, { signal }),
      ),
    call: listThreads,
  },
  {
    name: 'pages of long messages',
    async seed({ busy }) {
      const message = 'x'.repeat(7 * mebibyte);
      for (let n = 0; n < 20; n += 1) {
        const thread = longThread === '' ? {} : { threadId: longThread };
        longThread = String(
          (await busy.post('/v1/agents/shop/chat', { message, ...thread })).threadId,
        );
      }
    },
    keepUp: (bench, signal) =>
      keepRequests(4, signal, () =>
        statusOf(bench, bench.busy, `/v1/threads/${longThread}/messages?limit=100`, { signal }),
      ),
    call: listThreads,
  },
  {
    name: 'lists of chats with long names of contacts',
    async seed({ busy }) {
      // As long as the params of a message may be.
      const params = { contactName: 'x'.repeat(32_000) };
      for (let n = 0; n < 50; n += 1)
        await busy.post('/v1/agents/shop/chat', { message: 'Hello', params });
    },
    keepUp: (bench, signal) =>
      keepRequests(3, signal, () =>
        statusOf(bench, bench.busy, '/v1/threads?limit=50', { signal }),
      ),
    call: listThreads,
  },
  {
    name: 'pulls of 16 MB of tools',
    async seed({ busy }) {
      const handlerCode = `return 1; // ${'x'.repeat(250_000)}`;
      const parameters = { type: 'object', description: 'x'.repeat(60_000) };
      // As many as an environment may have.
      for (let n = 0; n < 51; n += 3) {
        const tools = [n, n + 1, n + 2].map((at) => ({
          name: `flood.t${at}`,
          description: 'For the bench.',
          parameters,
          handlerCode,
        }));
        await busy.post('/v1/sync', { resources: { tools } });
      }
    },
    keepUp: (bench, signal) =>
      keepRequests(4, signal, () =>
        statusOf(bench, bench.busy, '/v1/sync/pull', { ...post({}), signal }),
      ),
    call: (bench) => succeed(bench, bench.other, '/v1/entity-types'),
  },
  {
    name: 'a model server with large answers',
    keepUp: (bench, signal) =>
      keepRequests(4, signal, () =>
        statusOf(bench, bench.busy, '/v1/agents/hostile/chat', {
          ...post({ message: 'Hello' }),
          signal,
        }),
      ),
    call: (bench) =>
      succeed(bench, bench.other, '/v1/agents/shop/chat', post({ message: 'Hello' })),
  },
];
