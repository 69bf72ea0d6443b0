import { type Answer, violationOf } from './conformance';

export interface Client {
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  delete(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Sends any request. A string or bytes are sent unchanged as the body, other values as JSON. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

/**
 * A client of the HTTP API with an address and a key. Path, status and body of every response are
 * checked against the OpenAPI document; `send` throws when they violate it.
 */
export function createClient(url: string, key?: string): Client {
  const send: Client['send'] = async (method, path, body, headers = {}) => {
    const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: raw ? (body as RequestInit['body']) : JSON.stringify(body),
    });
    const text = await response.text();
    const json =
      response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    const answer = {
      status: response.status,
      headers: response.headers,
      body: json ? JSON.parse(text) : text,
    };
    const violation = violationOf(method, path, answer);
    if (violation !== null) throw new Error(`The OpenAPI document is violated: ${violation}`);
    return answer;
  };
  return {
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    patch: (path, body, headers) => send('PATCH', path, body, headers),
    delete: (path, headers) => send('DELETE', path, undefined, headers),
  };
}

/** Pushes definitions that a test needs. Throws with the whole response when they are refused. */
export async function push(client: Client, resources: object): Promise<void> {
  const { status, body } = await client.post('/v1/sync', { resources });
  if (status !== 200) throw new Error(`The push was refused: ${JSON.stringify(body)}`);
}
