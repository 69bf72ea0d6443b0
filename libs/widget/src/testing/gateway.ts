import type { Settings } from '../session';

/** A request of the chat. */
export interface Sent {
  method: string;
  path: string;
  query: Record<string, string>;
  token: string | null;
  key: string | null;
  body: Record<string, unknown> | undefined;
}

export type Answer = Response | 'lost';

/** The settings of a page of a shop. */
export const settings: Settings = {
  baseUrl: 'https://parley.example',
  key: 'pk_dev_1',
  identityUrl: null,
};

export const json = (body: object, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json(body, { status, headers });
export const session = (
  token: string,
  visitorId: string | null = 'visitor_1',
  threadKey = 'thread_1',
): Response => json({ token, visitorId, threadKey });

/** Answers the requests of the page with `answer` until the test ends, and records them. */
export function openGateway(
  answer: (sent: Sent, index: number) => Answer | Promise<Answer>,
): Sent[] {
  const all: Sent[] = [];
  globalThis.fetch = async (input, init) => {
    init?.signal?.throwIfAborted();
    const url = new URL(String(input));
    const headers = new Headers(init?.headers);
    const sent: Sent = {
      method: init?.method ?? 'GET',
      path: url.pathname,
      query: Object.fromEntries(url.searchParams),
      token: headers.get('Authorization'),
      key: headers.get('Idempotency-Key'),
      body: init?.body ? (JSON.parse(init.body as string) as Record<string, unknown>) : undefined,
    };
    all.push(sent);
    const given = await answer(sent, all.length - 1);
    if (given === 'lost') throw new TypeError('Failed to fetch');
    return given;
  };
  return all;
}

/** A stream with these chunks. */
export function streamOf(...chunks: object[]): Response {
  const events = chunks.map((chunk, at) => `id: e1-${at + 1}\ndata: ${JSON.stringify(chunk)}\n\n`);
  return new Response(`${events.join('')}data: [DONE]\n\n`);
}
export const noStream = (): Response => new Response(null, { status: 204 });

/** A function of Node.js. The chat is compiled without its types. */
declare const setImmediate: (run: () => void) => void;

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
/** Until everything that needs no timer has happened. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 40; turns += 1) await turn();
}

/** A timer that only a test moves. `setImmediate` stays, because answers arrive with it. */
export const holdClock = (): void =>
  void jest.useFakeTimers({
    now: Date.UTC(2026, 0, 1),
    doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'],
  });

export async function passTime(ms: number): Promise<void> {
  jest.advanceTimersByTime(ms);
  await settle();
}

/** A storage for the visitor, as a browser has it. */
export function openStorage(): Map<string, string> {
  const texts = new Map<string, string>();
  const value = {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => void texts.set(key, text),
    removeItem: (key: string) => void texts.delete(key),
  };
  Object.defineProperty(globalThis, 'localStorage', { value, configurable: true });
  return texts;
}
