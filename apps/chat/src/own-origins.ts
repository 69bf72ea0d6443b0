/**
 * Returns the check of the `Origin` of MCP requests. Own are the origin of PUBLIC_URL and
 * those of MCP_ALLOWED_ORIGINS; while PUBLIC_URL is an address of this machine, every origin
 * of this machine is.
 */
export function createOriginCheck(
  publicUrl: string,
  allowed: readonly string[],
): (origin: string) => boolean {
  const own = new Set([publicUrl, ...allowed].map((url) => new URL(url).origin));
  const isLocal = isLoopback(publicUrl);
  return (origin) => own.has(origin) || (isLocal && isLoopback(origin));
}

const isLoopback = (url: string): boolean =>
  URL.canParse(url) && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(new URL(url).hostname);
