import type { IncomingMessage } from 'node:http';
import { reportRefusal } from '@parley/contracts';
import { createSlots } from '@parley/outbound';
import { HttpError } from '@parley/service';
import { ClientDisconnected, tooLarge } from './request-body';

export interface BodyLimits {
  /** Memory for the bodies of all requests that have no answer yet, in bytes. */
  memoryBytes: number;
  /** A body has this time, and another second for each `minBytesPerSecond` that have arrived. */
  graceMs: number;
  minBytesPerSecond: number;
  /** Maximum number of slow bodies of one network address. */
  slowPerAddress: number;
  /** A body that is not complete after this time is slow. */
  slowAfterMs?: number;
}

/** A complete body. */
export interface ReadBody {
  bytes: Buffer;
  /** Called when the service has answered: until then the body occupies memory. */
  release: () => void;
}

/** Part of each body that counts as small: the size of what Node.js reads at once. */
const smallBytes = 64 * 1024;
/** Chunks of a body that arrives byte by byte would occupy a few hundred bytes each, so they are copied into one buffer. */
const firstAllocationBytes = 4 * 1024;

/**
 * Receives the bodies of requests before a service is contacted, so that a slow client occupies no connection to a service
 * (docs/adr/0084). Bodies count with the bytes that have arrived; the length in the header would let a client reserve memory with
 * headers alone. Half of the memory is for the first 64 KiB of each body, so that large bodies leave room for small ones. In
 * each half, network addresses have shares (libs/outbound createSlots).
 */
export function createIncomingBodies({ memoryBytes, slowAfterMs = 1_000, ...limits }: BodyLimits) {
  const pools = {
    small: createSlots({ total: Math.floor(memoryBytes / 2) }),
    large: createSlots({ total: Math.floor(memoryBytes / 2) }),
  };
  /** In the order of their arrival. */
  const incomplete = new Set<IncomingBody>();
  const slow = createSlots({ perKey: limits.slowPerAddress });
  let timer: NodeJS.Timeout | undefined;

  /** Ends the bodies that are too slow. One timer for all, because most requests are complete before it fires. */
  function sweep(): void {
    const now = performance.now();
    for (const body of incomplete) {
      const ageMs = now - body.startedAtMs;
      if (ageMs < slowAfterMs) break;
      body.releaseSlow ??= slow.tryAcquire(body.address()) ?? undefined;
      if (body.releaseSlow === undefined) body.end(tooManySlow());
      else if (ageMs > limits.graceMs + (body.size / limits.minBytesPerSecond) * 1_000) body.end(tooSlow());
    }
    if (incomplete.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  function reserve(address: string, from: number, to: number): (() => void)[] | null {
    const small = Math.min(to, smallBytes) - Math.min(from, smallBytes);
    const large = to - from - small;
    const ofSmall = small === 0 ? undefined : pools.small.tryAcquire(address, small);
    const ofLarge = large === 0 ? undefined : pools.large.tryAcquire(address, large);
    if (ofSmall === null || ofLarge === null) {
      ofSmall?.();
      ofLarge?.();
      return null;
    }
    return [ofSmall, ofLarge].filter((one) => one !== undefined);
  }

  return {
    /**
     * Resolves with the complete body of a request, or null when it has none. `address`: the client's network address. Rejects
     * with 413 beyond the limit, 408 and 429 for a slow body, 503 while too much memory is in use.
     */
    async read(request: IncomingMessage, limitBytes: number, address: () => string): Promise<ReadBody | null> {
      const { headers } = request;
      const length = headers['content-length'];
      if (length === undefined && headers['transfer-encoding'] === undefined) return null;
      if (length === '0') return null;
      timer ??= setInterval(sweep, Math.min(slowAfterMs, 1_000)).unref();
      const body = new IncomingBody({ request, limitBytes, address, reserve });
      incomplete.add(body);
      try {
        return await body.complete;
      } finally {
        incomplete.delete(body);
        body.releaseSlow?.();
      }
    },
  };
}

interface IncomingBodyOptions {
  request: IncomingMessage;
  limitBytes: number;
  address: () => string;
  /** Reserves memory for the bytes from one size to another. Null: there is none. */
  reserve: (address: string, from: number, to: number) => (() => void)[] | null;
}

class IncomingBody {
  readonly startedAtMs = performance.now();
  readonly address: () => string;
  readonly complete: Promise<ReadBody>;
  /** Bytes that have arrived. */
  size = 0;
  /** Set when the body counts as a slow one of its address. */
  releaseSlow: (() => void) | undefined = undefined;
  /** Ends the body with an error. */
  end: (error: Error) => void = () => {};
  /** A body that arrives in one chunk is not copied. */
  #buffer: Buffer = Buffer.alloc(0);
  readonly #reservations: (() => void)[] = [];

  constructor(private readonly options: IncomingBodyOptions) {
    this.address = options.address;
    this.complete = new Promise((resolve, reject) => this.#listen(resolve, reject));
  }

  #listen(resolve: (body: ReadBody) => void, reject: (error: Error) => void): void {
    const { request, limitBytes } = this.options;
    const onData = (chunk: Buffer) => {
      if (this.size + chunk.length > limitBytes) this.end(tooLarge(limitBytes));
      else if (!this.#append(chunk)) this.end(busy());
    };
    const onEnd = () => {
      stopListening();
      resolve({ bytes: this.#buffer.subarray(0, this.size), release: () => this.#release() });
    };
    const onClose = () => this.end(new ClientDisconnected('The client disconnected before its request was complete'));
    const stopListening = () =>
      request.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose);
    this.end = (error) => {
      stopListening();
      this.#release();
      reject(error);
    };
    request.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose);
  }

  /** Returns false when there is no memory for the chunk. */
  #append(chunk: Buffer): boolean {
    const needed = this.size + chunk.length;
    if (needed > this.#buffer.length && !this.#grow(chunk, needed)) return false;
    if (this.#buffer !== chunk) chunk.copy(this.#buffer, this.size);
    this.size = needed;
    return true;
  }

  #grow(chunk: Buffer, needed: number): boolean {
    const isFirst = this.size === 0;
    const capacity = isFirst ? needed : Math.max(needed, this.#nextCapacity());
    const reserved = this.options.reserve(this.address(), this.#buffer.length, capacity);
    if (reserved === null) return false;
    this.#reservations.push(...reserved);
    if (isFirst) {
      this.#buffer = chunk;
      return true;
    }
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.#buffer.copy(larger, 0, 0, this.size);
    this.#buffer = larger;
    return true;
  }

  /** Twice as much as before, at most the length that the client has announced or the limit. */
  #nextCapacity(): number {
    const { request, limitBytes } = this.options;
    const most = Number(request.headers['content-length'] ?? limitBytes);
    return Math.min(most, Math.max(firstAllocationBytes, 2 * this.#buffer.length));
  }

  #release(): void {
    for (const release of this.#reservations) release();
    this.#buffer = Buffer.alloc(0);
  }
}

/** Closes the connection: the client is still sending, too slowly to wait for. */
const closing = (headers: Record<string, string> = {}) => ({ headers: { ...headers, Connection: 'close' } });

const tooSlow = () => new HttpError(408, 'request_timeout', 'The request took too long to arrive', closing());

function tooManySlow(): HttpError {
  reportRefusal('slow_bodies');
  return new HttpError(
    429,
    'too_many_unfinished_requests',
    'Too many requests of this address arrive slowly at the same time',
    closing({ 'Retry-After': '5' }),
  );
}

function busy(): HttpError {
  reportRefusal('request_bodies');
  return new HttpError(503, 'busy', 'Too many large requests are being received at the same time', {
    headers: { 'Retry-After': '2' },
  });
}
