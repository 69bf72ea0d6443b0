import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, request } from 'undici';
import type { TextSink } from './model';
import type { Answer, AnswerLimits, AnswerReader, SentCall } from './reading/answer';
import { UnreadableAnswer, faultOfResponse } from './reading/provider-fault';
import { readCalls } from './reading/read-calls';
import { readValues } from './reading/read-values';

/** One connection pool for all providers. call-model.ts limits the calls and their time. */
const dispatcher = new Agent({ connect: { timeout: 10_000 }, headersTimeout: 0, bodyTimeout: 0 });

/** Beginning of the body of an error that is read, in bytes. */
const maxErrorBytes = 64 * 1024;

/** What was read of an answer. */
export interface ReadAnswer {
  answer: Answer;
  calls: SentCall[];
  thoughts: Record<string, unknown>;
}

interface ExchangeOptions {
  /** Returns the reader of answers from this address. */
  readerOf(url: string): (limits: AnswerLimits, write: (delta: string) => void) => AnswerReader;
  /** Changes the request that the LangChain class has made. Absent: it is sent as it is. */
  prepare?: (body: Record<string, unknown>, url: string) => Record<string, unknown>;
  limits: AnswerLimits;
  /** The id of a call to which the provider gives none. */
  callId: (index: number) => string;
  /** Gets the text while the provider sends it. */
  sink?: TextSink;
  /** Aborts the HTTP request. */
  signal: AbortSignal;
}

/**
 * One request to a provider, between its LangChain class and the network. The class makes the
 * request. The answer is read here, with limits and with the same rules whether it is streamed or
 * not, and the class gets it as its documentation describes one, whole. Nothing that a server gets
 * wrong reaches the class (docs/adr/0082).
 */
export interface Exchange {
  /** Sends a request, and returns the body of the answer for the class. */
  send(url: string, headers: Record<string, string>, body: string): Promise<object>;
  /** What was read of the answer; undefined before it was. */
  read(): ReadAnswer | undefined;
  /** Why the request failed. The class may throw an error of its own for it. */
  failure(): unknown;
}

export function createExchange({
  readerOf,
  prepare,
  limits,
  callId,
  sink,
  signal,
}: ExchangeOptions): Exchange {
  let read: ReadAnswer | undefined;
  let failure: unknown;

  async function exchange(
    url: string,
    headers: Record<string, string>,
    body: string,
  ): Promise<object> {
    const sent = prepare
      ? JSON.stringify(prepare(JSON.parse(body) as Record<string, unknown>, url))
      : body;
    const response = await request(url, {
      method: 'POST',
      headers,
      body: sent,
      signal,
      dispatcher,
    });
    if (response.statusCode >= 300) {
      const start = await readStart(response.body);
      throw faultOfResponse(response.statusCode, response.headers, start);
    }
    const reader = readerOf(url)(limits, (delta) => sink?.write(delta));
    await readValues(response.body, reader);
    if (!reader.hasEnded() && !reader.isFull())
      throw new UnreadableAnswer(
        'The answer of the provider ended in the middle, or is no answer of a model',
      );
    const answer = reader.read();
    const calls = readCalls(answer.calls, callId);
    read = { answer, calls, thoughts: reader.thoughts?.() ?? {} };
    return reader.toBody(calls);
  }

  return {
    async send(url, headers, body) {
      try {
        return await exchange(url, headers, body);
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    read: () => read,
    failure: () => failure,
  };
}

/**
 * The exchange of the running call. A class is used for many calls at the same time, and its
 * `fetch` knows none of them.
 */
const running = new AsyncLocalStorage<Exchange>();

/** Runs the work of a class, whose `fetch` is `fetchAnswer`, for one exchange. */
export const inExchange = <T>(exchange: Exchange, work: () => Promise<T>): Promise<T> =>
  running.run(exchange, work);

/**
 * The `fetch` of the classes. Redirects are not followed, so that a key is not sent
 * to another server.
 */
export const fetchAnswer: typeof fetch = async (input, init = {}) => {
  const exchange = running.getStore();
  if (exchange === undefined) throw new Error('A model was called outside of an exchange');
  const url = input instanceof Request ? input.url : String(input);
  const headers = init.headers instanceof Headers ? init.headers : new Headers(init.headers);
  const body = typeof init.body === 'string' ? init.body : '{}';
  const answer = await exchange.send(url, Object.fromEntries(headers), body);
  return new Response(`${JSON.stringify(answer)}\n`, {
    headers: { 'content-type': 'application/json' },
  });
};

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).toString('utf8', 0, maxErrorBytes);
}
