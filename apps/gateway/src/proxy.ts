import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpError, badGateway, gatewayTimeout } from '@parley/service';
import type { Dispatcher } from 'undici';
import { ClientGone, type OutgoingBody } from './body';
import { responseHeaders, type HeaderList } from './headers';
import type { UpstreamName } from './routes';
import type { Upstream } from './upstreams';

export interface Exchange extends Upstream {
  upstream: UpstreamName;
  request: IncomingMessage;
  response: ServerResponse;
  headers: HeaderList;
  body: OutgoingBody;
  /** Put on the answer beside the upstream's own headers. */
  own: HeaderList;
  /** Reports why an attempt failed (for the log and metrics). */
  onFailure: (reason: string) => void;
}

const retryDelayMs = 50;

/**
 * Sends a request to its upstream and streams the answer back; resolves when the answer is complete. Rejects with an
 * HttpError when there is no answer to give, and with `ClientGone` when there is nobody to give it to.
 *
 * A second try happens once, and only when the first cannot have done anything: the connection was never made, or the
 * request is a GET or HEAD and its body can be sent again.
 */
export function forward(exchange: Exchange): Promise<void> {
  const { pool, request, response, headers, body, own, deadlineMs, onFailure } = exchange;
  const method = request.method!;
  const path = request.url!;
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let ended: Error | undefined;
    let sent = false;
    let triedAgain = false;

    const end = (error: Error) => {
      if (ended) return;
      ended = error;
      controller?.abort(error);
      reject(error);
    };
    const timer = setTimeout(() => {
      onFailure('timeout');
      end(gatewayTimeout(`The ${exchange.upstream} service did not answer in time`));
    }, deadlineMs);
    const onClose = () => {
      clearTimeout(timer);
      if (!response.writableFinished) end(new ClientGone('the client left'));
    };
    if (response.closed) return onClose();
    response.once('close', onClose);
    response.on('drain', () => controller?.resume());

    const attempt = () =>
      pool.dispatch(
        { method, path, headers, body, headersTimeout: 0, bodyTimeout: 0 },
        {
          onRequestStart(control) {
            controller = control;
            sent = true;
            if (ended) control.abort(ended);
          },
          onResponseStart(control, status) {
            if (status < 200) return;
            response.writeHead(status, responseHeaders(control.rawHeaders as Buffer[], own));
          },
          onResponseData(control, chunk) {
            if (!response.write(chunk)) control.pause();
          },
          onResponseEnd() {
            clearTimeout(timer);
            response.end();
            resolve();
          },
          onResponseError(_control, error) {
            if (ended) return;
            if (error instanceof HttpError) return end(error);
            onFailure(codeOf(error));
            const safe = !sent || ((method === 'GET' || method === 'HEAD') && (body === null || Buffer.isBuffer(body)));
            if (safe && !triedAgain && !response.headersSent) {
              triedAgain = true;
              sent = false;
              setTimeout(() => ended ?? attempt(), retryDelayMs);
              return;
            }
            clearTimeout(timer);
            end(sent ? brokeOff(exchange.upstream) : upstreamDown(exchange.upstream));
          },
        },
      );
    attempt();
  });
}

/** The request was sent, so it may have been carried out: unlike a 503 this does not invite a second try. */
const brokeOff = (upstream: UpstreamName) =>
  badGateway(`The ${upstream} service broke off before its answer was complete`);

/** The service is not reachable: nothing was done, so a client may try again. */
export const upstreamDown = (upstream: UpstreamName, code = 'upstream_unavailable') =>
  new HttpError(503, code, `The ${upstream} service is temporarily unavailable`, { headers: { 'Retry-After': '2' } });

const codeOf = (error: Error): string => String((error as Error & { code?: unknown }).code ?? error.name);
