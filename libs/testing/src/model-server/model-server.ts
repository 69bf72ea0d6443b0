import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { anthropicProtocol } from './anthropic';
import {
  chunksOf,
  has,
  typeWithQuirks,
  withReplyQuirks,
  writePieces,
  writeWhole,
} from './apply-quirks';
import { googleProtocol } from './google';
import { ollamaProtocol } from './ollama';
import { openAiProtocol } from './openai';
import type { ModelServerReply, ModelServerRequest, ModelScript, Protocol } from './protocol';

const protocols: Protocol[] = [openAiProtocol, anthropicProtocol, googleProtocol, ollamaProtocol];

const thoughtsDemanded = 'The reasoning_content must be passed back to the API';

export interface ModelServer {
  /** Every received request, in order. */
  requests: ModelServerRequest[];
  /**
   * Faults for which a real provider would have refused a request, each answered with 400.
   * Must stay empty.
   */
  problems: string[];
  /** Requests to paths of no protocol. They show that a client used a wrong address. */
  unknownRequests: string[];
  /**
   * Refuses requests to OpenAI in which calls of the current turn come back without the model's
   * `reasoning_content`, as DeepSeek does. That is no problem: a client cannot know it before.
   */
  demandsThoughts: boolean;
  /** The base URLs for the clients of each protocol. */
  urls: { openai: string; anthropic: string; google: string; ollama: string };
  /** Replaces the script. */
  play(script: ModelScript): void;
  stop(): Promise<void>;
}

/**
 * Starts a stand-in for the chat APIs of OpenAI, Anthropic, Gemini and Ollama. The script returns
 * the reply to each request. Requests are checked by the rules of the providers: every tool call is
 * followed by its result, names are valid, schemas are well-formed.
 */
export async function startModelServer(
  script: ModelScript = () => ({ text: 'ok' }),
): Promise<ModelServer> {
  const server: Omit<ModelServer, 'urls' | 'stop'> = {
    requests: [],
    problems: [],
    unknownRequests: [],
    demandsThoughts: false,
    play(next) {
      script = next;
    },
  };
  const http = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      server.problems.push(`the script failed: ${String(error)}`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.split('?')[0] ?? '';
    const text = await readText(request);
    const protocol = protocols.find(({ matches }) => request.method === 'POST' && matches(path));
    if (protocol === undefined) {
      server.unknownRequests.push(`${request.method} ${request.url}`);
      return void response
        .writeHead(404, { 'content-type': 'application/json' })
        .end('{"error":"no such path"}');
    }
    const read = protocol.read(JSON.parse(text), path, request.headers);
    server.requests.push(read.request);
    if (read.problems.length > 0) {
      server.problems.push(...read.problems);
      return send(response, 400, JSON.stringify(protocol.error(400, read.problems.join('; '))));
    }
    if (server.demandsThoughts && protocol.lacksThoughts?.(read.request.body)) {
      return send(response, 400, JSON.stringify(protocol.error(400, thoughtsDemanded)));
    }
    const index = server.requests.length - 1;
    const isStream = protocol.asksForStream(read.request.body, path);
    await answer(response, protocol, read.request, await script(read.request, index), isStream);
  }

  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  return Object.assign(server, {
    urls: { openai: `${origin}/v1`, anthropic: origin, google: origin, ollama: origin },
    async stop() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  });
}

async function answer(
  response: ServerResponse,
  protocol: Protocol,
  request: ModelServerRequest,
  given: ModelServerReply,
  isAskedForStream: boolean,
): Promise<void> {
  const reply = withReplyQuirks(given);
  if (reply.delayMs) await sleep(reply.delayMs);
  if (reply.hang) return;
  if (reply.status !== undefined && reply.status !== 200) {
    const body =
      reply.body ?? protocol.error(reply.status, reply.message ?? `status ${reply.status}`);
    return send(
      response,
      reply.status,
      typeof body === 'string' ? body : JSON.stringify(body),
      reply.headers,
    );
  }
  const isStream =
    has(reply, 'streams_unasked') || (isAskedForStream && !has(reply, 'ignores_stream'));
  const type = typeWithQuirks(reply, isStream ? protocol.streamType : 'application/json');
  if (isStream) {
    const pieces = writePieces(protocol, reply, protocol.pieces(request, reply));
    return sendPieces(response, type, reply, chunksOf(reply, pieces));
  }
  const text = writeWhole(protocol, reply, protocol.write(request, reply));
  const chunks = chunksOf(reply, [text]);
  if (chunks.length > 1) return sendPieces(response, type, reply, chunks);
  if (reply.broken === 'json')
    return send(response, 200, text.slice(0, Math.floor(text.length / 2)));
  if (reply.broken === 'connection') {
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.write(text.slice(0, 10), () => response.destroy());
    return;
  }
  send(response, 200, text, { 'content-type': type });
}

async function sendPieces(
  response: ServerResponse,
  type: string,
  reply: ModelServerReply,
  pieces: (string | Buffer)[],
): Promise<void> {
  const sent = reply.pieces ?? (reply.broken ? Math.ceil(pieces.length / 2) : pieces.length);
  response.writeHead(200, { 'content-type': type });
  for (const piece of pieces.slice(0, sent)) {
    response.write(piece);
    if (reply.pieceEveryMs) await sleep(reply.pieceEveryMs);
  }
  if (reply.broken === 'connection') response.write('', () => response.destroy());
  else response.end();
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Record<string, string> = {},
): void {
  const type = body.startsWith('<') ? 'text/html' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(body);
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
