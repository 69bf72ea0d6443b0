import { ParleyApiError, ParleyClient } from '@parley/client';
import type { JsonObject } from '@parley/contracts';
import { ApiFailure, unreachable } from '../api';
import { apiAddress } from '../environment';

export type DataClient = ParleyClient<Record<string, JsonObject>>;

/** Retries when the server is unavailable: about 2 seconds for a single call, almost a minute for an import or export. */
const retries = { call: 2, file: 8 };

/** Runs `work` with the typed client. Turns its errors into ApiFailures. */
export async function withClient<T>(
  work: (client: DataClient) => Promise<T>,
  kind: keyof typeof retries = 'call',
): Promise<T> {
  const { url, key } = apiAddress();
  const client = new ParleyClient({ apiKey: key, baseUrl: url, maxRetries: retries[kind] });
  try {
    return await work(client);
  } catch (error) {
    throw explainApiError(error, url);
  }
}

function explainApiError(error: unknown, url: string): unknown {
  if (error instanceof ParleyApiError) {
    const { status, code, requestId, details = [], message } = error;
    const more = details.length > 1 ? details.map((one) => `\n  ${one.path}: ${one.message}`).join('') : '';
    return new ApiFailure(status, code, requestId, details, message + more);
  }
  // The message of fetch is only "fetch failed"; its cause has the reason.
  const cause = (error as { cause?: { code?: string; message?: string } }).cause;
  if (error instanceof TypeError && cause !== undefined)
    return unreachable(url, cause.message || cause.code || 'no answer');
  return error;
}
