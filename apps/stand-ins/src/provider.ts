/** A request to the API of a provider. */
export interface ApiRequest {
  method: string;
  /** Below the prefix of the provider, decoded. */
  path: string;
  query: URLSearchParams;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

export interface ApiAnswer {
  status: number;
  body?: unknown;
}

/** The fields of a JSON object; empty for any other text. */
export function fieldsOf(text: string): Record<string, unknown> {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return {};
  }
}

export const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Time limit of a call to a receiver of webhooks. Kapso's own. */
const callLimitMs = 10_000;

/** Sends a webhook. Returns the problem in words, or null if the receiver has accepted it. */
export async function sendWebhook(
  url: string,
  request: { headers?: Record<string, string>; body: URLSearchParams | string },
): Promise<string | null> {
  try {
    const signal = AbortSignal.timeout(callLimitMs);
    const response = await fetch(url, { method: 'POST', redirect: 'manual', signal, ...request });
    const text = await response.text();
    return response.status === 200
      ? null
      : `${url} answered ${response.status}: ${text.slice(0, 300)}`;
  } catch (error) {
    return `${url} cannot be reached: ${((error as Error).cause as Error | undefined)?.message ?? (error as Error).message}`;
  }
}
