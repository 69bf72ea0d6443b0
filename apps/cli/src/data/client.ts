import { ParleyApiError, ParleyClient, type Retry } from '@parley/client';
import type { JsonObject } from '@parley/contracts';
import { ApiFailure, unreachable } from '../api';
import { apiAddress } from '../environment';
import { note } from '../terminal';

export type DataClient = ParleyClient<Record<string, JsonObject>>;

/**
 * Retries when the server is unavailable: about 2 seconds for a single call, almost a minute for an
 * import or export.
 */
const retries = { call: 2, file: 8 };
/** The windows of the rate limits are one minute. */
const maxWaitMs = 65_000;
/** Shorter waits are not reported. */
const reportedWaitMs = 1_500;

/** Runs `work` with the typed client. Turns its errors into ApiFailures. */
export async function withClient<T>(
  work: (client: DataClient) => Promise<T>,
  kind: keyof typeof retries = 'call',
): Promise<T> {
  const { url, key } = apiAddress();
  const client = new ParleyClient({
    apiKey: key,
    baseUrl: url,
    maxRetries: retries[kind],
    maxWaitMs,
    onRetry,
  });
  try {
    return await work(client);
  } catch (error) {
    throw explainApiError(error, url);
  }
}

function onRetry({ error, waitMs }: Retry): void {
  if (waitMs < reportedWaitMs) return;
  const cause =
    error.code === 'rate_limited' ? 'for the rate limit' : `because of: ${error.message}`;
  note(`Waiting ${Math.ceil(waitMs / 1_000)} s ${cause}.`);
}

const manageAdvice =
  '. Create a key with it (parley keys create --permissions manage), and store it with: parley login --key -';

/** Turns an error of the typed client into a failure that says what to do. */
export function explainApiError(error: unknown, url: string): unknown {
  if (!(error instanceof ParleyApiError)) return error;
  const { status, code, requestId, details = [], message } = error;
  // The message of fetch is only "fetch failed"; its cause has the reason.
  if (status === 0) {
    const { message: reason, code } = ((error.cause as Error).cause ?? error.cause) as {
      message: string;
      code?: string;
    };
    return unreachable(url, reason || code || 'no answer');
  }
  const more =
    details.length > 1 ? details.map((one) => `\n  ${one.path}: ${one.message}`).join('') : '';
  const advice = code === 'missing_permission' && message.includes('manage') ? manageAdvice : '';
  return new ApiFailure(status, code, requestId, details, message + more + advice);
}
