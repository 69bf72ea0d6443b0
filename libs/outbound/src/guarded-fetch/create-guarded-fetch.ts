import { lookup as systemLookup } from 'node:dns';
import { type LookupFunction, isIP } from 'node:net';
import { Agent, type Dispatcher, buildConnector, request } from 'undici';
import { untilAborted } from '../until-aborted';
import { isPublicAddress } from './address-policy';
import { decodeBody } from './decode-body';
import { cleanRequestHeaders, cleanResponseHeaders, dropCredentials } from './headers';
import { decideTarget, inside } from './target-policy';

interface GuardedRequest {
  url: string;
  /** GET unless told. */
  method?: string;
  headers?: [name: string, value: string][];
  body?: Uint8Array | string;
  /** What to do with a redirect: follow (at most 5, each hop decided anew), hand it back, or fail. */
  redirect?: 'follow' | 'manual' | 'error';
  /** Exact names or `*.domain`. Absent: any public host. */
  allowedHosts?: readonly string[];
  /** The whole exchange, redirects and body included. */
  timeoutMs: number;
  /** Of the body, after decompression too. */
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
  'invalid_url' | 'invalid_request' | 'refused' | 'redirect' | 'too_large' | 'timeout' | 'aborted' | 'network';

/** An answer whose body comes in pieces, as for events; an encoded one is refused. Reading fails beyond the limits. */
type GuardedStream =
  | { ok: true; status: number; headers: [name: string, value: string][]; body: AsyncIterable<Uint8Array> }
  | { ok: false; reason: GuardedFailure; message: string };

export interface GuardedFetch {
  fetch(request: GuardedRequest): Promise<GuardedResponse>;
  /** Like `fetch`, but answers when the headers are there. The limits hold for the whole exchange all the same. */
  open(request: GuardedRequest): Promise<GuardedStream>;
  close(): Promise<void>;
}

type Failure = Extract<GuardedResponse, { ok: false }>;
type Sent = { ok: true; answer: Dispatcher.ResponseData; url: URL; redirected: boolean } | Failure;

const maxRedirects = 5;
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const refusedCode = 'PARLEY_REFUSED_ADDRESS';

/**
 * An HTTP client for addresses that strangers choose: it reaches the public internet and nothing else. What a name
 * resolves to is checked at connect time, on the very addresses that are then dialled, so a name that changes its
 * answer between check and use gains nothing; every redirect is decided anew.
 */
export function createGuardedFetch(options: {
  /** `host` or `host:port` reachable although not public; for development and tests. */
  allowedPrivateHosts?: readonly string[];
  /** The resolver; the system's unless told. */
  lookup?: LookupFunction;
}): GuardedFetch {
  const allowedPrivate = new Set((options.allowedPrivateHosts ?? []).map((host) => host.toLowerCase()));
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
      if (answer.statusCode === 303 ? method !== 'HEAD' : answer.statusCode <= 302 && method === 'POST') {
        [method, body] = ['GET', undefined];
        headers = headers.filter(([name]) => !name.startsWith('content-'));
      }
    }
    return fail(target.reason, target.message);
  }

  /** Sends and reads within the time limit; what goes wrong on the way comes back as a failure. */
  async function exchange<T extends object>(
    input: GuardedRequest,
    read: (sent: Extract<Sent, { ok: true }>) => Promise<T | Failure>,
  ): Promise<T | Failure> {
    const deadline = AbortSignal.timeout(input.timeoutMs);
    const signal = input.signal ? AbortSignal.any([deadline, input.signal]) : deadline;
    try {
      // A request that waits for the resolver does not look at its signal.
      const sent = await untilAborted(send(input, signal), signal);
      return sent.ok ? await read(sent) : sent;
    } catch (error) {
      if (deadline.aborted) return fail('timeout', `No complete answer within ${input.timeoutMs} ms`);
      if (signal.aborted) return fail('aborted', 'The request was aborted');
      return networkFailure(error);
    }
  }

  return {
    fetch: (input) =>
      exchange(input, async ({ answer, url, redirected }) => {
        const read = await decodeBody(answer, input.maxResponseBytes);
        if (!read.ok) return fail(read.reason, read.message);
        const { statusCode: status, statusText = '' } = answer;
        const headers = cleanResponseHeaders(answer.headers);
        return { ok: true, status, statusText, url: url.href, redirected, headers, body: read.body };
      }),
    open: (input) =>
      exchange(input, async ({ answer }) => {
        if ((answer.headers['content-encoding'] ?? 'identity') !== 'identity') {
          answer.body.on('error', () => undefined).destroy();
          return fail('network', 'The answer has an unknown encoding');
        }
        const headers = cleanResponseHeaders(answer.headers);
        return { ok: true, status: answer.statusCode, headers, body: limited(answer, input.maxResponseBytes) };
      }),
    async close() {
      await Promise.all([publicAgent.destroy(), privateAgent.destroy()]);
    },
  };
}

async function* limited({ body }: Dispatcher.ResponseData, limitBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limitBytes) throw new Error(`The answer is larger than ${limitBytes} bytes`);
    yield chunk;
  }
}

function createAgent(lookup: LookupFunction, mayDial: (address: string) => boolean): Agent {
  const connect = buildConnector({ lookup, timeout: 10_000, allowH2: false });
  return new Agent({
    connections: 64,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
    maxHeaderSize: 32_768,
    connect(target, callback) {
      // The resolver is not asked about literals, so they are decided here.
      const host = target.hostname.replace(/[[\]]/g, '');
      if (isIP(host) !== 0 && !mayDial(host)) return callback(refusal(host), null);
      connect(target, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        if (!mayDial(socket.remoteAddress ?? '')) {
          socket.destroy();
          return callback(refusal(host), null);
        }
        callback(null, socket);
      });
    },
  });
}

/** A resolver that fails when any of a name's addresses is not public. */
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

const refusal = (host: string): NodeJS.ErrnoException => Object.assign(new Error(inside(host)), { code: refusedCode });
const fail = (reason: GuardedFailure, message: string): Failure => ({ ok: false, reason, message });
const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Connection trouble in the caller's terms; the text of a library error never passes through. */
function networkFailure(error: unknown): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === refusedCode) return fail('refused', message);
  return fail('network', typeof code === 'string' ? `The request failed (${code})` : 'The request failed');
}
