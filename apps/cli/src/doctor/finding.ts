export type State = 'ok' | 'warning' | 'failed' | 'skipped';

export interface Finding {
  name: string;
  state: State;
  detail: string;
  /** What the user can do about it. */
  fix?: string;
}

/** Limit of each request to another process. */
export const timeoutMs = 5_000;

export async function ask(
  url: string,
  init: RequestInit = {},
): Promise<{ response: Response; tookMs: number }> {
  const startedAt = performance.now();
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) });
  return { response, tookMs: Math.round(performance.now() - startedAt) };
}

export function reasonOf(error: unknown): string {
  const { message, cause, code } = error as {
    message?: string;
    code?: string;
    cause?: { message?: string; code?: string };
  };
  return cause?.message || cause?.code || message || code || 'no answer';
}
