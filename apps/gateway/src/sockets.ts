import { randomUUID } from 'node:crypto';
import type { RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Logger } from '@parley/service';

/** Time limits for a client: the headers, the whole request, and the pause between two requests. */
export const serverOptions: ServerOptions = {
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
  // `refuseUnsafe` refuses a missing Host header with a JSON error.
  requireHostHeader: false,
};

/**
 * Answers connections that carry no valid HTTP request with a JSON error, where Node would close
 * them or send plain text.
 */
export function tuneServer(server: Server, listener: RequestListener, log: Logger): void {
  // The listener sends `100 Continue` itself, after its checks.
  server.on('checkContinue', listener);
  server.on('checkExpectation', listener);
  server.on('connect', (_request, socket: Duplex) => {
    answer(socket, 501, 'Not Implemented', 'connect_not_supported', 'CONNECT is not supported');
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = (socket as Socket & { _httpMessage?: ServerResponse })._httpMessage;
    if (error.code === 'ECONNRESET' || !socket.writable || response?.headersSent) {
      socket.destroy();
      return;
    }
    const [status, phrase, code, message] = problems[error.code ?? ''] ?? malformed;
    log.warn({ code: error.code, status }, 'malformed request');
    answer(socket, status, phrase, code, message);
  });
}

type Problem = readonly [status: number, phrase: string, code: string, message: string];

const malformed: Problem = [400, 'Bad Request', 'malformed_request', 'Malformed HTTP request'];
const problems: Record<string, Problem> = {
  ERR_HTTP_REQUEST_TIMEOUT: [
    408,
    'Request Timeout',
    'request_timeout',
    'The request took too long to arrive',
  ],
  HPE_HEADER_OVERFLOW: [
    431,
    'Request Header Fields Too Large',
    'headers_too_large',
    'Request headers are too large',
  ],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [
    413,
    'Content Too Large',
    'payload_too_large',
    'Chunk extensions are too large',
  ],
};

function answer(socket: Duplex, status: number, phrase: string, code: string, error: string): void {
  const requestId = randomUUID();
  const body = JSON.stringify({ error, code, requestId });
  socket.on('error', () => {});
  socket.end(
    `HTTP/1.1 ${status} ${phrase}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
