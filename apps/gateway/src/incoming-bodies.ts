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
  /** In one piece, or in several that follow each other. */
  bytes: Buffer | Buffer[];
  length: number;
  /** Called when the service has answered: until then the body occupies memory. */
  release: () => void;
}

/** Part of each body that counts as small: the size of what Node.js reads at once. */
const smallBytes = 64 * 1024;
/**
 * Chunks of a body that arrives byte by byte would occupy a few hundred bytes each, so they are
 * copied into blocks.
 */
const firstBlockBytes = 4 * 1024;

/**
 * Receives the bodies of requests before a service is contacted, so that a slow client occupies no
 * connection to a service (docs/adr/0084). Bodies count with the bytes that have arrived; the
 * length in the header would let a client reserve memory with headers alone. Half of the memory is
 * for the first 64 KiB of each body, so that large bodies leave room for small ones. In each half,
 * network addresses have shares (libs/outbound createSlots).
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

  /**
   * Ends the bodies that are too slow. One timer for all, because most requests are complete
   * before it fires.
   */
  function sweep(): void {
    const now = performance.now();
    for (const body of incomplete) {
      const ageMs = now - body.startedAtMs;
      if (ageMs < slowAfterMs) break;
      body.releaseSlow ??= slow.tryAcquire(body.address()) ?? undefined;
      if (body.releaseSlow === undefined) body.end(tooManySlow());
      else if (ageMs > limits.graceMs + (body.size / limits.minBytesPerSecond) * 1_000)
        body.end(tooSlow());
    }
    if (incomplete.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  const reserve: Reserve = (address, from, to) => {
    const small = Math.min(to, smallBytes) - Math.min(from, smallBytes);
    const large = to - from - small;
    const ofSmall = small === 0 ? nothing : pools.small.tryAcquire(address, small);
    if (ofSmall === null || large === 0) return ofSmall;
    const ofLarge = pools.large.tryAcquire(address, large);
    if (ofLarge === null) {
      ofSmall();
      return null;
    }
    return () => {
      ofSmall();
      ofLarge();
    };
  };

  return {
    /**
     * Resolves with the complete body of a request, or null when it has none. `address`: the
     * client's network address. Rejects with 413 beyond the limit, 408 and 429 for a slow body, 503
     * while too much memory is in use.
     */
    async read(
      request: IncomingMessage,
      limitBytes: number,
      address: () => string,
    ): Promise<ReadBody | null> {
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

/**
 * Reserves memory for the bytes from one size to another, and returns the function that gives it
 * back. Null: there is none.
 */
type Reserve = (address: string, from: number, to: number) => (() => void) | null;
const nothing = () => {};

interface IncomingBodyOptions {
  request: IncomingMessage;
  limitBytes: number;
  address: () => string;
  reserve: Reserve;
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
  /**
   * The first chunk as it has arrived, and blocks, each as large as all before it. The last
   * one may have room.
   */
  #blocks: Buffer[] = [];
  /** Bytes of all blocks, and those of the last block that are free. */
  #capacity = 0;
  #free = 0;
  readonly #reservations: (() => void)[] = [];

  constructor(private readonly options: IncomingBodyOptions) {
    this.address = options.address;
    this.complete = new Promise((resolve, reject) => this.#listen(resolve, reject));
  }

  /** The listeners stay, because removing them takes longer than reading a small body. */
  #listen(resolve: (body: ReadBody) => void, reject: (error: Error) => void): void {
    const { request, limitBytes } = this.options;
    let isOver = false;
    this.end = (error) => {
      if (isOver) return;
      isOver = true;
      this.#release();
      reject(error);
    };
    const onClose = () => {
      if (!isOver)
        this.end(new ClientDisconnected('The client disconnected before its request was complete'));
    };
    request.on('data', (chunk: Buffer) => {
      if (isOver) return;
      if (this.size + chunk.length > limitBytes) this.end(tooLarge(limitBytes));
      else if (!this.#append(chunk)) this.end(busy());
    });
    request.once('end', () => {
      if (isOver) return;
      isOver = true;
      resolve({ bytes: this.#bytes(), length: this.size, release: () => this.#release() });
    });
    request.once('error', onClose).once('close', onClose);
  }

  /** Returns false when there is no memory for the chunk. */
  #append(chunk: Buffer): boolean {
    const rest = Math.max(0, chunk.length - this.#free);
    this.#fill(chunk.subarray(0, chunk.length - rest));
    if (rest === 0) return true;
    const isFirst = this.size === 0;
    const blockBytes = isFirst ? rest : Math.max(rest, this.#nextBlockBytes());
    const reserved = this.options.reserve(
      this.address(),
      this.#capacity,
      this.#capacity + blockBytes,
    );
    if (reserved === null) return false;
    this.#reservations.push(reserved);
    this.#capacity += blockBytes;
    this.#blocks.push(isFirst ? chunk : Buffer.allocUnsafeSlow(blockBytes));
    this.#free = blockBytes;
    if (isFirst) this.#count(rest);
    else this.#fill(chunk.subarray(chunk.length - rest));
    return true;
  }

  /** Copies a chunk into the last block, which has room for it. */
  #fill(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const block = this.#blocks.at(-1)!;
    chunk.copy(block, block.length - this.#free);
    this.#count(chunk.length);
  }

  #count(bytes: number): void {
    this.size += bytes;
    this.#free -= bytes;
  }

  /**
   * As much as has arrived, at most what the length that the client has announced or
   * the limit leaves.
   */
  #nextBlockBytes(): number {
    const { request, limitBytes } = this.options;
    const most = Number(request.headers['content-length'] ?? limitBytes);
    return Math.min(most - this.size, Math.max(firstBlockBytes, this.#capacity));
  }

  #bytes(): Buffer | Buffer[] {
    const last = this.#blocks.pop() ?? Buffer.alloc(0);
    this.#blocks.push(last.subarray(0, last.length - this.#free));
    return this.#blocks.length === 1 ? this.#blocks[0]! : this.#blocks;
  }

  #release(): void {
    for (const release of this.#reservations) release();
    this.#blocks = [];
  }
}

/** Closes the connection: the client is still sending, too slowly to wait for. */
const closing = (headers: Record<string, string> = {}) => ({
  headers: { ...headers, Connection: 'close' },
});

const tooSlow = () =>
  new HttpError(408, 'request_timeout', 'The request took too long to arrive', closing());

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
