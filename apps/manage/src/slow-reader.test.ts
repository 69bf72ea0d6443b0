import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createManageApp } from './app';
import { type TestApi, createTestApi } from './testing/create-test-api';
import { insertAgent } from './testing/samples/executions';

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
});
afterAll(() => api.close());

const count = 5_000;
const delta = 'x'.repeat(4_000);

test('a reader of an execution that stops reading is disconnected, and continues where it was', async () => {
  const world = await api.world();
  await insertAgent(world);
  const started = await world.call('post', '/v1/executions', {
    body: { agentSlug: 'helper', message: 'Hello' },
  });
  const id = started.body.executionId as string;
  const chunks = Array.from({ length: count }, (_, n) => ({
    seq: n + 1,
    chunk: { type: 'text-delta', id: 't', delta },
  }));
  for (let at = 0; at < count; at += 500)
    await api.deps.executionChunks.append(id, chunks.slice(at, at + 500), {
      after: at || null,
      limit: count + 1,
    });

  const limits = {
    ...api.deps.executionStreamLimits,
    maxOpenMs: 60_000,
    commentEveryMs: 60_000,
    stuckAfterMs: 500,
  };
  const server = createServer(
    createManageApp({ ...api.deps, executionStreamLimits: limits }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const path = `/v1/executions/${id}/stream`;
  let buffered = 0;
  const isDisconnected = Promise.withResolvers<void>();
  server.on('request', (_request, response) => {
    const watch = setInterval(() => (buffered = Math.max(buffered, response.writableLength)), 5);
    response.once('close', () => {
      clearInterval(watch);
      isDisconnected.resolve();
    });
  });
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.key}\r\n\r\n`);
  await once(socket, 'readable');
  const text: string[] = [];
  await isDisconnected.promise;
  socket.setEncoding('utf8').on('data', (piece: string) => text.push(piece));
  await once(socket, 'close').catch(() => {});
  const ids = [...text.join('').matchAll(/^id: (\d+)\ndata: .*}$/gm)].map(([, seq]) => Number(seq));
  const last = ids.at(-1)!;
  expect(ids).toEqual(Array.from({ length: last }, (_, n) => n + 1));
  expect(last).toBeLessThan(count);
  // A few chunks, not the twenty megabytes of the answer.
  expect(buffered).toBeLessThan(1024 * 1024);

  const headers = { Authorization: `Bearer ${world.key}`, 'Last-Event-ID': String(last) };
  const again = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const rest: number[] = [];
  let partial = '';
  for await (const piece of again.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (partial + piece).split('\n');
    partial = lines.pop()!;
    for (const line of lines) if (line.startsWith('id: ')) rest.push(Number(line.slice(4)));
    if (rest.at(-1) === count) break;
  }
  expect(rest).toEqual(Array.from({ length: count - last }, (_, n) => last + n + 1));
  server.closeAllConnections();
  server.close();
});
