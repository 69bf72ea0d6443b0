import { lookup as systemLookup } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { Agent, type Dispatcher, buildConnector, request } from 'undici';
import { rejectOnAbort } from '../reject-on-abort';
import { isPublicAddress } from './address-policy';
import { decodeBody } from './decode-body';
import { cleanRequestHeaders, cleanResponseHeaders, dropCredentials } from './headers';
import { decideTarget, notPublic } from './target-policy';

interface GuardedRequest {
  url: string;
  /** Default: GET. */
  method?: string;
  headers?: [name: string, value: string][];
  body?: Uint8Array | string;
  /**
   * Follow redirects (default; at most 5, with the checks of a request for each),
   * return them, or fail.
   */
  redirect?: 'follow' | 'manual' | 'error';
  /** Host names or `*.domain`. Default: every public host. */
  allowedHosts?: readonly string[];
  /** Time limit of the whole request, including redirects and the body of the answer. */
  timeoutMs: number;
  /** Maximum size of the answer's body, before and after decompression. */
  maxResponseBytes: number;
  signal?: AbortSignal;
}

type GuardedResponse =
  | {
      ok: true;
      status: number;
      statusText: string;
      url: string;
      redirected: boolean;
      headers: [name: string, value: string][];
      body: Buffer;
    }
  | { ok: false; reason: GuardedFailure; message: string };

type GuardedFailure =
  | 'invalid_url'
  | 'invalid_request'
  | 'refused'
  | 'redirect'
  | 'too_large'
  | 'timeout'
  | 'aborted'
  | 'network';

/**
 * An answer whose body is read as a stream. Reading fails when a limit is exceeded. Compressed
 * answers are refused.
 */
type GuardedStream =
  | {
      ok: true;
      status: number;
      headers: [name: string, value: string][];
      body: AsyncIterable<Uint8Array>;
    }
  | { ok: false; reason: GuardedFailure; message: string };

export interface GuardedFetch {
  fetch(request: GuardedRequest): Promise<GuardedResponse>;
  /** Like `fetch`, but resolves after the headers. The limits still apply to the whole request. */
  open(request: GuardedRequest): Promise<GuardedStream>;
  /**
   * Checks an address, and returns the connections to use for it, which check what its
   * name resolves to.
   */
  connectionsFor(
    url: string,
  ): { ok: true; dispatcher: Dispatcher } | { ok: false; message: string };
  close(): Promise<void>;
}

type Failure = Extract<GuardedResponse, { ok: false }>;
type Sent = { ok: true; answer: Dispatcher.ResponseData; url: URL; redirected: boolean } | Failure;

const maxRedirects = 5;
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** The code of the error of a connection to an address that is not public. */
export const refusedCode = 'PARLEY_REFUSED_ADDRESS';

/**
 * Creates an HTTP client for untrusted addresses, which can reach only the public internet. The
 * addresses of a name are checked when the connection is made, with the lookup that the
 * connection uses, so that a name cannot change in between (DNS rebinding). Each redirect is
 * checked like a new request.
 */
export function createGuardedFetch(options: {
  /**
   * `host` or `host:port` that may be reached although they are not public, for
   * development and tests.
   */
  allowedPrivateHosts?: readonly string[];
  /** Default: the resolver of the system. */
  lookup?: LookupFunction;
}): GuardedFetch {
  const allowedPrivate = new Set(
    (options.allowedPrivateHosts ?? []).map((host) => host.toLowerCase()),
  );
  const lookup = options.lookup ?? (systemLookup as LookupFunction);
  const publicAgent = createAgent(guardLookup(lookup), isPublicAddress);
  const privateAgent = createAgent(lookup, () => true);

  async function send(input: GuardedRequest, signal: AbortSignal): Promise<Sent> {
    let { method, body } = { method: (input.method ?? 'GET').toUpperCase(), body: input.body };
    let headers = cleanRequestHeaders(input.headers ?? []);
    if (!methods.has(method)) return fail('invalid_request', `Method not allowed: ${method}`);
    if (headers === null) return fail('invalid_request', 'Invalid header name or value');
    let target = decideTarget(input.url, { allowedHosts: input.allowedHosts, allowedPrivate });
    for (let hop = 0; target.ok; hop++) {
      const { url, isPrivateAllowed } = target;
      const answer = await request(url, {
        method: method as 'GET',
        headers: headers.flat(),
        body: body ?? null,
        signal,
        dispatcher: isPrivateAllowed ? privateAgent : publicAgent,
      });
      const location = answer.headers.location;
      if (!isRedirect(answer.statusCode) || location === undefined || input.redirect === 'manual') {
        return { ok: true, answer, url, redirected: hop > 0 };
      }
      answer.body.on('error', () => undefined).destroy();
      if (input.redirect === 'error') return fail('redirect', 'The answer is a redirect');
      if (hop === maxRedirects) return fail('redirect', `More than ${maxRedirects} redirects`);
      const next = URL.parse(String(location), url.href);
      if (next === null) return fail('redirect', 'The redirect has no valid address');
      target = decideTarget(next.href, { allowedHosts: input.allowedHosts, allowedPrivate });
      if (next.origin !== url.origin) headers = dropCredentials(headers);
      if (
        answer.statusCode === 303
          ? method !== 'HEAD'
          : answer.statusCode <= 302 && method === 'POST'
      ) {
        [method, body] = ['GET', undefined];
        headers = headers.filter(([name]) => !name.startsWith('content-'));
      }
    }
    return fail(target.reason, target.message);
  }

  /** Sends a request and reads its answer within the time limit. Returns errors as failures. */
  async function perform<T extends object>(
    input: GuardedRequest,
    read: (sent: Extract<Sent, { ok: true }>) => Promise<T | Failure>,
  ): Promise<T | Failure> {
    const deadline = AbortSignal.timeout(input.timeoutMs);
    const signal = input.signal ? AbortSignal.any([deadline, input.signal]) : deadline;
    try {
      // A request does not observe its signal while it waits for the resolver.
      const sent = await rejectOnAbort(send(input, signal), signal);
      return sent.ok ? await read(sent) : sent;
    } catch (error) {
      if (deadline.aborted)
        return fail('timeout', `No complete answer within ${input.timeoutMs} ms`);
      if (signal.aborted) return fail('aborted', 'The request was aborted');
      return networkFailure(error);
    }
  }

  return {
    fetch: (input) =>
      perform(input, async ({ answer, url, redirected }) => {
        const read = await decodeBody(answer, input.maxResponseBytes);
        if (!read.ok) return fail(read.reason, read.message);
        const { statusCode: status, statusText = '' } = answer;
        const headers = cleanResponseHeaders(answer.headers);
        return {
          ok: true,
          status,
          statusText,
          url: url.href,
          redirected,
          headers,
          body: read.body,
        };
      }),
    open: (input) =>
      perform(input, async ({ answer }) => {
        if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
          answer.body.on('error', () => undefined).destroy();
          return fail('network', 'The answer has an unknown encoding');
        }
        const headers = cleanResponseHeaders(answer.headers);
        return {
          ok: true,
          status: answer.statusCode,
          headers,
          body: limited(answer, input.maxResponseBytes),
        };
      }),
    connectionsFor(url) {
      const target = decideTarget(url, { allowedPrivate });
      return target.ok
        ? { ok: true, dispatcher: target.isPrivateAllowed ? privateAgent : publicAgent }
        : target;
    },
    async close() {
      await Promise.all([publicAgent.destroy(), privateAgent.destroy()]);
    },
  };
}

async function* limited(
  { body }: Dispatcher.ResponseData,
  limitBytes: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw new Error(`The answer is larger than ${limitBytes} bytes`);
    yield chunk;
  }
}

function createAgent(lookup: LookupFunction, mayConnect: (address: string) => boolean): Agent {
  const connect = buildConnector({ lookup, timeout: 10_000, allowH2: false });
  return new Agent({
    connections: 64,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
    maxHeaderSize: 32_768,
    connect(target, callback) {
      // IP literals are not passed to the resolver, so they are checked here.
      const host = target.hostname.replace(/[[\]]/g, '');
      if (isIP(host) !== 0 && !mayConnect(host)) return callback(refusal(host), null);
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        if (!mayConnect(socket.remoteAddress ?? '')) {
          socket.destroy();
          return callback(refusal(host), null);
        }
        callback(null, socket);
      });
    },
  });
}

/** Returns a resolver that fails when one of a name's addresses is not public. */
function guardLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '', 0);
      const addresses = Array.isArray(found) ? found : [];
      const [first] = addresses;
      if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
        return callback(refusal(hostname), '', 0);
      }
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
}

const refusal = (host: string): NodeJS.ErrnoException =>
  Object.assign(new Error(notPublic(host)), { code: refusedCode });
const fail = (reason: GuardedFailure, message: string): Failure => ({ ok: false, reason, message });
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/**
 * The failure of a network error. Contains the error's code and not its message, which could
 * contain internal addresses.
 */
function networkFailure(error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === refusedCode) return fail('refused', message);
  return fail(
    'network',
    typeof code === 'string' ? `The request failed (${code})` : 'The request failed',
  );
}
