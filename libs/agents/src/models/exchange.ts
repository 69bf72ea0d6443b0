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
  /** Changes the request that the LangChain class has made. */
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
 * One request to a provider, between its LangChain class and the network. The class makes the request. The answer is read here,
 * with limits and with the same rules whether it is streamed or not, and the class gets it as its documentation describes
 * one, whole. Nothing that a server gets wrong reaches the class (docs/adr/0082).
 */
export function createExchange({ readerOf, prepare, limits, callId, sink, signal }: ExchangeOptions) {
  let read: ReadAnswer | undefined;
  let failure: unknown;

  async function exchange(url: string, headers: Record<string, string>, body: string): Promise<object> {
    const response = await request(url, { method: 'POST', headers, body, signal, dispatcher });
    if (response.statusCode >= 300) {
      const start = await readStart(response.body);
      throw faultOfResponse(response.statusCode, response.headers, start);
    }
    const reader = readerOf(url)(limits, (delta) => sink?.write(delta));
    await readValues(response.body, reader);
    if (!reader.hasEnded() && !reader.isFull())
      throw new UnreadableAnswer('The answer of the provider ended in the middle, or is no answer of a model');
    const answer = reader.read();
    const calls = readCalls(answer.calls, callId);
    read = { answer, calls, thoughts: reader.thoughts?.() ?? {} };
    return reader.toBody(calls);
  }

  /** Sends a request, and returns the body of the answer for the class. */
  async function send(url: string, headers: Record<string, string>, body: string): Promise<object> {
    try {
      return await exchange(url, headers, body);
    } catch (error) {
      failure = error;
      throw error;
    }
  }

  const fetchAnswer: typeof fetch = async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const given = typeof init.body === 'string' ? init.body : '{}';
    const body = prepare ? JSON.stringify(prepare(JSON.parse(given) as Record<string, unknown>, url)) : given;
    const answer = await send(url, Object.fromEntries(new Headers(init.headers)), body);
    return new Response(`${JSON.stringify(answer)}\n`, { headers: { 'content-type': 'application/json' } });
  };

  return {
    send,
    /** The `fetch` of the class. Redirects are not followed, so that a key is not sent to another server. */
    fetch: fetchAnswer,
    read: (): ReadAnswer | undefined => read,
    /** Why the request failed. The class may throw an error of its own for it. */
    failure: (): unknown => failure,
  };
}

export type Exchange = ReturnType<typeof createExchange>;

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
