import type { LogLine } from '@parley/contracts';

/** What the service tells a sandbox process. */
export type ToSandbox =
  | { type: 'seal'; uid: number | null }
  | { type: 'run'; code: string; args: string; context: string; timeoutMs: number }
  | { type: 'compile'; code: string }
  /** Answer to a `request`; JSON, with the body as bytes. */
  | { type: 'reply'; id: number; value: unknown };

/** What a sandbox process tells the service, which believes none of it. */
export type FromSandbox =
  | { type: 'loaded' }
  | { type: 'ready' }
  | { type: 'done'; outcome: Outcome }
  | { type: 'compiled'; result: CompileResult; isWorn: boolean }
  | { type: 'request'; id: number; kind: 'fetch' | 'tool'; value: unknown }
  | { type: 'cancel'; id: number };

/** How one run of a handler ended. `result` is JSON text. */
export type Outcome =
  | { kind: 'result'; result: string; logs: LogLine[] }
  | { kind: 'error'; error: HandlerError; logs: LogLine[] }
  | { kind: 'timeout' };

/** Places are in the handler's own lines and columns, from 1. */
export interface HandlerError {
  name?: string;
  message: string;
  line?: number;
  column?: number;
  stack?: string;
}

/** `code` is what the engine is to run: the handler as it came, or with its types blanked out. */
export type CompileResult = { ok: true; code: string } | { ok: false; error: string; line?: number; column?: number };

export const sandboxLimits = {
  memoryBytes: 64 * 1024 * 1024,
  stackBytes: 512 * 1024,
  /** As in the contract (executorLimits), which a sandbox process cannot afford to load. */
  resultBytes: 1_048_576,
  logLines: 200,
  logBytes: 64 * 1024,
  logLineChars: 8 * 1024,
  errorChars: 8 * 1024,
  timers: 1000,
  /** Questions to the service that a run may have open, and may ask in all. */
  openRequests: 64,
  requests: 1000,
  /** Of one question of the code inside, as JSON text. */
  messageBytes: 4 * 1024 * 1024,
  /** Of one body sent or fetched. */
  bodyBytes: 2 * 1024 * 1024,
} as const;
