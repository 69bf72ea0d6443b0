import { ParleyApiError } from '@parley/client';
import { ownValue } from '@parley/rows';
import { currentLanguage } from '../language';
import { errorTexts } from '../texts/errors';

/**
 * What people read of an error: its text, and of an invalid input the first field that is wrong.
 */
export function messageOf(error: unknown): string {
  const known =
    error instanceof ParleyApiError
      ? ownValue(errorTexts[currentLanguage()] ?? {}, error.code ?? '')
      : undefined;
  if (known !== undefined) return known;
  const { message } = error as Error;
  const detail = error instanceof ParleyApiError ? error.details?.[0]?.message : undefined;
  return detail === undefined || message.includes(detail) ? message : `${message}: ${detail}`;
}

export const isMissing = (error: unknown): boolean =>
  error instanceof ParleyApiError && error.status === 404;
/** The server was not reached, or is away. */
export const isLost = (error: unknown): boolean =>
  error instanceof ParleyApiError && (error.status === 0 || error.status >= 502);
