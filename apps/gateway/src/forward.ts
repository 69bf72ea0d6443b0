import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, type OpenStreams, badGateway, gatewayTimeout } from '@parley/service';
import type { Dispatcher } from 'undici';
import { createSlots } from '@parley/outbound';
import { ClientDisconnected } from './request-body';
import { responseHeaders, type HeaderList } from './headers';
import type { UpstreamName } from './routes';
import type { Upstream } from './upstreams';

export interface ForwardOptions {
  name: UpstreamName;
  upstream: Upstream;
  /** Maximum time for the request and its answer; for a stream, until it begins. */
  deadlineMs: number;
  /** Maximum time in which a stream sends nothing, or in which its client reads nothing. */
  streamIdleMs: number;
  streams: OpenStreams;
  /**
   * The service may hold the request for long, which must not take the connections
   * of other requests.
   */
  expectsStream: boolean;
  /**
   * The client gets nothing of an answer before it is complete, so that another one can replace it.
   */
  isWhole: boolean;
  request: IncomingMessage;
  response: ServerResponse;
  headers: HeaderList;
  body: Buffer | Buffer[] | null;
  /** The network address of the client. */
  address: () => string;
  /** The gateway's own headers, added to the headers of the upstream's answer. */
  own: HeaderList;
  /** The upstream's CORS headers reach the client. */
  corsOfService?: boolean | undefined;
  /** Called with the reason of each failed attempt, for the log and metrics. */
  onFailure: (reason: string) => void;
}

const retryDelayMs = 50;

/** Size up to which an answer is taken from the service although its client does not read it. */
const bufferedAnswerBytes = 1024 * 1024;
/** The memory for an answer is taken in parts of this size. */
const answerPartBytes = 128 * 1024;
/**
 * Bytes of an answer that may wait for its client without being counted: what Node.js holds before
 * it asks to pause.
 */
const uncountedBytes = 16 * 1024;
/** Memory for answers whose clients read slowly. Network addresses have shares of it. */
const answerMemory = createSlots({ total: 32 * 1024 * 1024 });

/**
 * Sends a request to its upstream and streams the answer to the client. Resolves when the
 * upstream's answer is complete: the client may still read it, until the deadline. Rejects with an
 * HttpError when the upstream gives no answer, and with `ClientDisconnected` when the client has
 * closed the connection.
 */
export const forward = (options: ForwardOptions): Promise<void> =>
  new Promise((resolve, reject) => new ProxiedRequest(options, resolve, reject).start());

/**
 * One request and its answer. A failed attempt is repeated once, and only when that is safe: the
 * request was never sent, or it is a GET or HEAD whose body can be sent again.
 */
class ProxiedRequest implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #ended: Error | undefined = undefined;
  #isSent = false;
  #isSecondTry = false;
  /** Content-Length of the answer; NaN when the header is missing. */
  #length = NaN;
  /** The body of an answer that arrived in one chunk. */
  #whole: Buffer | undefined = undefined;
  /** The parts of an answer that the client gets when it is complete. */
  #held: { begin: () => void; chunks: Buffer[] } | undefined = undefined;
  #isStream = false;
  /** The upstream's answer is complete. */
  #isComplete = false;
  /**
   * Bytes of the answer that may wait for its client, and the functions that give
   * their memory back.
   */
  #countedBytes = uncountedBytes;
  readonly #releases: (() => void)[] = [];

  constructor(
    private readonly options: ForwardOptions,
    private readonly resolve: () => void,
    private readonly reject: (error: Error) => void,
  ) {}

  start(): void {
    const { response, deadlineMs, name, onFailure } = this.options;
    if (response.closed) return this.#end(clientDisconnected());
    this.#timer = setTimeout(() => {
      if (this.#isComplete) return void response.destroy();
      onFailure('timeout');
      this.#end(gatewayTimeout(`The ${name} service did not answer in time`));
    }, deadlineMs);
    response.once('close', () => {
      clearTimeout(this.#timer);
      for (const release of this.#releases.splice(0)) release();
      if (!response.writableFinished) this.#end(clientDisconnected());
    });
    response.on('drain', () => {
      if (this.#isStream) this.#timer?.refresh();
      this.#controller?.resume();
    });
    this.#attempt();
  }

  #attempt(): void {
    const { request, headers, body, upstream, expectsStream } = this.options;
    const { method, url: path } = request as { method: string; url: string };
    (expectsStream ? upstream.streamPool : upstream.pool).dispatch(
      // The types of undici leave out that it takes several pieces.
      { method, path, headers, body: body as Buffer | null, headersTimeout: 0, bodyTimeout: 0 },
      this,
    );
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#isSent = true;
    if (this.#ended) controller.abort(this.#ended);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    const { response, own, corsOfService } = this.options;
    const begin = () =>
      response.writeHead(
        status,
        responseHeaders(controller.rawHeaders as Buffer[], own, corsOfService),
      );
    if (this.options.isWhole) {
      this.#held = { begin, chunks: [] };
      return;
    }
    begin();
    this.#length = Number(headers['content-length'] ?? NaN);
    if (/^text\/event-stream\b/i.test(String(headers['content-type'] ?? ''))) this.#startStream();
  }

  /**
   * A stream has no deadline: it ends when nothing has been sent or read for some time,
   * and at shutdown.
   */
  #startStream(): void {
    const { response, streams, streamIdleMs, name, onFailure } = this.options;
    this.#isStream = true;
    response.flushHeaders();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#isComplete) return void response.destroy();
      // Data that waits for the client was sent by the upstream in time.
      if (response.writableNeedDrain) return this.#end(clientDisconnected());
      onFailure('stream idle');
      this.#end(gatewayTimeout(`The ${name} service did not answer in time`));
    }, streamIdleMs);
    const remove = streams.add(() => {
      this.#ended ??= clientDisconnected();
      clearTimeout(this.#timer);
      this.#controller?.abort(this.#ended);
      response.end();
      this.resolve();
    });
    response.once('close', remove);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isStream) this.#timer?.refresh();
    if (this.#held) this.#held.chunks.push(chunk);
    else if (chunk.length === this.#length) this.#whole = chunk;
    else if (!this.options.response.write(chunk) && !this.#mayWait()) controller.pause();
  }

  /** Whether the upstream may send more, although the client has not read everything. */
  #mayWait(): boolean {
    if (this.#isStream) return false;
    const { response, address } = this.options;
    while (response.writableLength > this.#countedBytes) {
      if (this.#countedBytes >= bufferedAnswerBytes) return false;
      const release = answerMemory.tryAcquire(address(), answerPartBytes);
      if (release === null) return false;
      this.#releases.push(release);
      this.#countedBytes += answerPartBytes;
    }
    return true;
  }

  onResponseEnd(): void {
    // The deadline remains for a client that does not read.
    this.#isComplete = true;
    const { response } = this.options;
    if (this.#held) {
      this.#held.begin();
      this.#whole = Buffer.concat(this.#held.chunks);
    }
    // Node writes a latin1 string in one system call with the headers, which takes half the time.
    // No byte is changed.
    if (this.#whole === undefined) response.end();
    else response.end(this.#whole.toString('latin1'), 'latin1');
    this.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    if (error instanceof HttpError) return this.#end(error);
    const { name, onFailure } = this.options;
    onFailure(String((error as Error & { code?: unknown }).code ?? error.name));
    if (this.#mayRetry()) {
      this.#isSecondTry = true;
      this.#isSent = false;
      setTimeout(() => this.#ended ?? this.#attempt(), retryDelayMs);
    } else {
      this.#end(this.#isSent ? connectionLost(name) : upstreamDown(name));
    }
  }

  #mayRetry(): boolean {
    const { request, response } = this.options;
    if (this.#isSecondTry || response.headersSent) return false;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    return !this.#isSent || isRead;
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    clearTimeout(this.#timer);
    this.#controller?.abort(error);
    this.reject(error);
  }
}

const clientDisconnected = () => new ClientDisconnected('The client closed the connection');

/**
 * 502, not 503: the request was sent and may have had an effect, so the client must not
 * simply repeat it.
 */
const connectionLost = (upstream: UpstreamName) =>
  badGateway(`The ${upstream} service closed the connection before its answer was complete`);

/** The service did not receive the request, so the client may repeat it. */
export const upstreamDown = (upstream: UpstreamName, code = 'upstream_unavailable') =>
  new HttpError(503, code, `The ${upstream} service is temporarily unavailable`, {
    headers: { 'Retry-After': '2' },
  });
