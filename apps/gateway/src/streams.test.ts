import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, request as httpRequest } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeServer } from '@parley/service';
import { until } from '@parley/testing';
import { type TestGateway, startGateway, startRawUpstream } from './gateway-under-test';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A gateway before an upstream whose streams the test writes. */
async function open(options: Parameters<typeof startGateway>[1] = {}) {
  const answers: ServerResponse[] = [];
  const upstream = await startRawUpstream((_request, response) => {
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
    });
    response.flushHeaders();
    answers.push(response);
  });
  closing.push(upstream.close);
  const gateway = await startGateway({ manage: upstream.url }, options);
  closing.push(gateway.close);
  return { gateway, answers, upstream };
}

/** Opens a stream. Resolves when the headers have arrived, before the first event. */
async function read({ url }: TestGateway) {
  const request = httpRequest(`${url}/v1/events/stream`, { agent: false }).end();
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const seen = { request, response, text: '', end: '' };
  response.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk));
  response.on('end', () => (seen.end ||= 'end')).on('error', () => (seen.end ||= 'cut'));
  return seen;
}

test('a stream lives longer than the deadline and the idle time, as long as it sends comments', async () => {
  const { gateway, answers } = await open({ deadlineMs: 300, streamIdleMs: 1_000 });
  const client = await read(gateway);
  for (let i = 0; i < 12; i++) {
    // wall clock: the pace of the comments, which together take longer than both times.
    await sleep(100);
    answers[0]!.write(':\n\n');
  }
  await until(() => Promise.resolve(client.text), {
    isThere: (text) => text === ':\n\n'.repeat(12),
  });
  expect(client.end).toBe('');
  expect(client.response.headers).toMatchObject({ 'content-type': 'text/event-stream' });
  await until(() => Promise.resolve(client.end), { isThere: (end) => end === 'cut' });
  expect(gateway.failures).toEqual(['manage stream idle']);
  await until(() => Promise.resolve(answers[0]!.destroyed), { isThere: Boolean });
});

test('an upstream that dies in mid-stream closes the connection, and no JSON follows the events', async () => {
  const { gateway, answers } = await open();
  const client = await read(gateway);
  answers[0]!.write('data: 1\n\n');
  await until(() => Promise.resolve(client.text), { isThere: (text) => text !== '' });
  answers[0]!.socket!.resetAndDestroy();
  await until(() => Promise.resolve(client.end), { isThere: Boolean });
  expect(client).toMatchObject({ text: 'data: 1\n\n', end: 'cut' });
  expect(gateway.streams.size).toBe(0);
});

test('a client that disconnects ends the request to the upstream at once', async () => {
  const { gateway, answers } = await open();
  const client = await read(gateway);
  client.request.destroy();
  const [, ms] = await Promise.all([
    once(answers[0]!, 'close'),
    Promise.resolve(performance.now()),
  ]);
  expect(performance.now() - ms).toBeLessThan(10_000);
});

test('a client that does not read holds little memory, and is closed after some time', async () => {
  const { gateway, answers } = await open({ streamIdleMs: 1_000 });
  const request = httpRequest(`${gateway.url}/v1/events/stream`, { agent: false }).end();
  request.on('error', () => {});
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {}).pause();
  const [answer] = answers;
  let written = 0;
  const chunk = `data: ${'x'.repeat(65_536)}\n\n`;
  for (;;) {
    const isFree = answer!.write(chunk);
    written += chunk.length;
    if (answer!.destroyed) break;
    if (isFree) continue;
    const drained = once(answer!, 'drain').then(() => true);
    // wall clock: a connection that stays full for so long is taken as full.
    if (!(await Promise.race([drained, sleep(500, false)]))) break;
  }
  // What is not in the gateway is in the buffers of the two connections.
  expect(written).toBeLessThan(24 * 1024 * 1024);
  await until(() => Promise.resolve(answer!.destroyed), { isThere: Boolean });
  expect(gateway.failures).toEqual([]);
});

test('a shutdown ends 50 open streams, and every later one at once', async () => {
  const { gateway } = await open();
  const clients = await Promise.all(Array.from({ length: 50 }, () => read(gateway)));
  expect(gateway.streams.size).toBe(50);
  const startedAt = performance.now();
  gateway.streams.endAll();
  const late = await read(gateway);
  await closeServer(gateway.server);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  await until(() => Promise.resolve([...clients, late]), {
    isThere: (all) => all.every(({ end }) => end === 'end'),
  });
});

test('more streams than connections for requests are open at the same time', async () => {
  const { gateway, answers } = await open();
  const clients = await Promise.all(Array.from({ length: 600 }, () => read(gateway)));
  expect([clients.length, answers.length]).toEqual([600, 600]);
  for (const { request } of clients) request.destroy();
});
