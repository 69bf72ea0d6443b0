/**
 * The open streams of a process. They have no end of their own, so a shutdown ends them before it
 * waits for other answers.
 */
export class OpenStreams {
  readonly #ends = new Set<() => void>();
  #isClosing = false;

  /** Registers a stream by the function that ends it, and returns a function that removes it. */
  add(end: () => void): () => void {
    // Never synchronous: the caller has not received its result yet.
    if (this.#isClosing) setImmediate(end);
    else this.#ends.add(end);
    return () => void this.#ends.delete(end);
  }

  get size(): number {
    return this.#ends.size;
  }

  /** Ends all streams, and from now on every new one at once. */
  endAll(): void {
    this.#isClosing = true;
    for (const end of this.#ends) end();
    this.#ends.clear();
  }
}
