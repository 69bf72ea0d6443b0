import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, badGateway, gatewayTimeout } from '@parley/service';
import type { Dispatcher } from 'undici';
import { ClientGone, type OutgoingBody } from './body';
import { responseHeaders, type HeaderList } from './headers';
import type { UpstreamName } from './routes';
import type { Upstream } from './upstreams';

export interface ExchangeOptions {
  name: UpstreamName;
  upstream: Upstream;
  request: IncomingMessage;
  response: ServerResponse;
  headers: HeaderList;
  body: OutgoingBody;
  /** Put on the answer beside the upstream's own headers. */
  own: HeaderList;
  /** Hears why an attempt failed (for the log and metrics). */
  onFailure: (reason: string) => void;
}

const retryDelayMs = 50;

/**
 * Sends a request to its upstream and streams the answer back; resolves when the answer is complete. Rejects with an
 * HttpError when there is no answer to give, and with `ClientGone` when there is nobody to give it to.
 */
export const forward = (options: ExchangeOptions): Promise<void> =>
  new Promise((resolve, reject) => new Exchange(options, resolve, reject).start());

/**
 * One request on its way through. A second try happens once, and only when the first cannot have done anything: the
 * connection was never made, or the request is a GET or HEAD and its body can be sent again.
 */
class Exchange implements Dispatcher.DispatchHandler {
  #controller: Dispatcher.DispatchController | undefined = undefined;
  #timer: NodeJS.Timeout | undefined = undefined;
  #ended: Error | undefined = undefined;
  #isSent = false;
  #isSecondTry = false;
  /** Of the answer's body; NaN when it is not announced. */
  #length = NaN;
  /** The body of an answer that came in one piece. */
  #whole: Buffer | undefined = undefined;

  constructor(
    private readonly options: ExchangeOptions,
    private readonly resolve: () => void,
    private readonly reject: (error: Error) => void,
  ) {}

  start(): void {
    const { response, upstream, name, onFailure } = this.options;
    if (response.closed) return this.#end(new ClientGone('the client has left'));
    this.#timer = setTimeout(() => {
      onFailure('timeout');
      this.#end(gatewayTimeout(`The ${name} service did not answer in time`));
    }, upstream.deadlineMs);
    response.once('close', () => {
      clearTimeout(this.#timer);
      if (!response.writableFinished) this.#end(new ClientGone('the client has left'));
    });
    response.on('drain', () => this.#controller?.resume());
    this.#attempt();
  }

  #attempt(): void {
    const { request, headers, body, upstream } = this.options;
    const { method, url: path } = request as { method: string; url: string };
    upstream.pool.dispatch({ method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 }, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    this.#isSent = true;
    if (this.#ended) controller.abort(this.#ended);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    const { response, own } = this.options;
    response.writeHead(status, responseHeaders(controller.rawHeaders as Buffer[], own));
    this.#length = Number(headers['content-length'] ?? NaN);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (chunk.length === this.#length) this.#whole = chunk;
    else if (!this.options.response.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
    const { response } = this.options;
    // An answer in one piece goes out as text, byte for byte: Node writes that together with its head, in half the time.
    if (this.#whole === undefined) response.end();
    else response.end(this.#whole.toString('latin1'), 'latin1');
    this.resolve();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#ended) return;
    if (error instanceof HttpError) return this.#end(error);
    const { name, onFailure } = this.options;
    onFailure(String((error as Error & { code?: unknown }).code ?? error.name));
    if (this.#mayTryAgain()) {
      this.#isSecondTry = true;
      this.#isSent = false;
      setTimeout(() => this.#ended ?? this.#attempt(), retryDelayMs);
    } else {
      this.#end(this.#isSent ? brokeOff(name) : upstreamDown(name));
    }
  }

  #mayTryAgain(): boolean {
    const { request, response, body } = this.options;
    if (this.#isSecondTry || response.headersSent) return false;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    return !this.#isSent || (isRead && (body === null || Buffer.isBuffer(body)));
  }

  #end(error: Error): void {
    if (this.#ended) return;
    this.#ended = error;
    clearTimeout(this.#timer);
    this.#controller?.abort(error);
    this.reject(error);
  }
}

/** The request was sent, so it may have been carried out: unlike a 503 this does not invite a second try. */
const brokeOff = (upstream: UpstreamName) =>
  badGateway(`The ${upstream} service broke off before its answer was complete`);

/** The service is not reachable: nothing was done, so a client may try again. */
export const upstreamDown = (upstream: UpstreamName, code = 'upstream_unavailable') =>
  new HttpError(503, code, `The ${upstream} service is temporarily unavailable`, { headers: { 'Retry-After': '2' } });
