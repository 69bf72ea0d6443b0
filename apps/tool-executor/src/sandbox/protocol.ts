import type { LogLine } from '@parley/contracts';

/** Messages from the service to a sandbox process. */
export type ToSandbox =
  | { type: 'seal'; uid: number | null }
  | {
      type: 'run';
      code: string;
      args: string;
      context: string;
      secrets?: Record<string, string>;
      timeoutMs: number;
    }
  | { type: 'compile'; code: string }
  /** The answer to a `request`: JSON, with the body as bytes. */
  | { type: 'reply'; id: number; value: unknown };

/** Messages from a sandbox process to the service, which trusts none of them (reply-schemas.ts). */
export type FromSandbox =
  | { type: 'loaded' }
  | { type: 'ready' }
  /**
   * Sent before the first line of the handler runs. A call whose process ended earlier can
   * be run elsewhere.
   */
  | { type: 'begun' }
  /** `mustReplace`: the process has used too much memory to serve another call. */
  | { type: 'done'; outcome: Outcome; mustReplace?: true }
  | { type: 'compiled'; result: CompileResult; mustReplace: boolean }
  | { type: 'request'; id: number; kind: 'fetch' | 'tool'; value: unknown }
  | { type: 'cancel'; id: number };

/** How one run of a handler ended. `result` is JSON text. */
export type Outcome =
  | { kind: 'result'; result: string; logs: LogLine[] }
  | { kind: 'error'; error: HandlerError; logs: LogLine[] }
  | { kind: 'timeout' };

/** Lines and columns of the handler's source, from 1. */
export interface HandlerError {
  name?: string;
  message: string;
  line?: number;
  column?: number;
  stack?: string;
}

/** `code` is what the engine runs: the handler unchanged, or with its types replaced by blanks. */
export type CompileResult =
  { ok: true; code: string } | { ok: false; error: string; line?: number; column?: number };
