import { Agent, request } from 'undici';

/** One pool for all providers; what limits a call's time is its signal (create-models). */
const dispatcher = new Agent({ connections: 256, connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 });

/**
 * As much of `fetch` as the clients of model providers use, for whole answers: the global one takes twice the time for a
 * small exchange. Redirects are not followed, so that a key goes where it was meant to and nowhere else.
 */
export const modelFetch: typeof fetch = async (input, init = {}) => {
  const answer = await request(input instanceof Request ? input.url : input, {
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    body: typeof init.body === 'string' ? init.body : null,
    signal: init.signal ?? undefined,
    dispatcher,
  });
  const body = await answer.body.arrayBuffer();
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  return new Response(body.byteLength === 0 ? null : body, { status: answer.statusCode, headers });
};
