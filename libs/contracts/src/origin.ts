import { z } from 'zod';

const wildcard = /^\*\.[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/;

const isOrigin = (text: string): boolean =>
  URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text);

/**
 * An origin such as `https://example.com`, or `*.example.com` for all names below a
 * domain over HTTPS.
 */
export const originPatternSchema = z
  .string()
  .max(300)
  .refine((text) => wildcard.test(text) || isOrigin(text), {
    error: ({ input }) =>
      `must be an origin such as https://example.com, or *.example.com${suggestionFor(String(input))}`,
  });

/** Browsers send origins in lower case, in ASCII, without a path and without the default port. */
function suggestionFor(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : '';
  return isOrigin(origin) && origin !== text
    ? `. Browsers send ${text.slice(0, 100)} as ${origin}`
    : '';
}

/** Whether the `Origin` of a request is one of these. Absent and `null` are none. */
export function isListedOrigin(
  patterns: readonly string[],
  origin: string | undefined,
): origin is string {
  if (origin === undefined || !isOrigin(origin)) return false;
  const { protocol, port, hostname } = new URL(origin);
  return patterns.some((pattern) =>
    pattern.startsWith('*.')
      ? protocol === 'https:' && port === '' && hostname.endsWith(pattern.slice(1))
      : pattern === origin,
  );
}
