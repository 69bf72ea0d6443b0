/**
 * Limits of one run of a handler. Its time limit is `timeoutMs` of the request (libs/contracts
 * executorLimits).
 */
export const sandboxLimits = {
  /** All values of a handler together. */
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 512 * 1024,
  /**
   * The same as in `executorLimits`. A sandbox process does not load the contracts,
   * to start faster.
   */
  resultBytes: 1_048_576,
  logLines: 200,
  logBytes: 64 * 1024,
  logLineChars: 8 * 1024,
  errorChars: 8 * 1024,
  timers: 1000,
  /** Requests that a run may have open, and may make in total. */
  openRequests: 64,
  requests: 1000,
  /**
   * Arguments and bodies of the requests that a run has open. They are held outside of the engine.
   */
  openBytes: 8 * 1024 * 1024,
  /** Maximum size of the payload of one operation, as JSON text. */
  messageBytes: 4 * 1024 * 1024,
  /** Maximum size of one request or response body. */
  bodyBytes: 2 * 1024 * 1024,
  /** Maximum length of a query that is split into pairs: a short text can have many. */
  searchChars: 256 * 1024,
} as const;

export const memoryExceeded = `The handler exceeded its memory limit of ${sandboxLimits.memoryBytes / 1024 / 1024} MiB`;
