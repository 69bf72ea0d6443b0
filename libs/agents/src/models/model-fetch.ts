import { Readable } from 'node:stream';
import { Agent, request } from 'undici';

/** One connection pool for all providers. call-model.ts limits the calls and their time. */
const dispatcher = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 });

/**
 * The subset of `fetch` that the client libraries of model providers use. Only streams of events are not read as a whole. The
 * global `fetch` takes twice as long for a small request. Redirects are not followed, so that a key is not sent to another server.
 */
export const modelFetch: typeof fetch = async (input, init = {}) => {
  const answer = await request(input instanceof Request ? input.url : input, {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === 'string' ? init.body : null,
    signal: init.signal ?? undefined,
    dispatcher,
  });
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((item): [string, string] => [name, item]),
  );
  const responseOf = (body: ConstructorParameters<typeof Response>[0]) =>
    new Response(body, { status: answer.statusCode, headers });
  if (String(answer.headers['content-type']).startsWith('text/event-stream'))
    return responseOf(Readable.toWeb(answer.body) as ReadableStream);
  const body = await answer.body.arrayBuffer();
  return responseOf(body.byteLength === 0 ? null : body);
};
