import { ParleyApiError } from '@parley/client';

const pauseMs = 10_000;
const reloaded = 'parley.reloadedAt';

/**
 * What follows when a part of the console cannot be loaded. A page that was loaded before an
 * upgrade asks for files that the server no longer has, so the page is loaded again. Without the
 * server, or when that did not help, the screen says so.
 */
export async function orReload(error: unknown): Promise<never> {
  const isReachable = await fetch('/console/', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isReachable)
    throw new ParleyApiError(
      0,
      { error: 'The server cannot be reached', code: 'unreachable' },
      null,
      error,
    );
  // An error of its own: the router answers a missing module with a reload.
  if (Date.now() - Number(sessionStorage.getItem(reloaded)) < pauseMs)
    throw new Error('This part of the console cannot be loaded', { cause: error });
  sessionStorage.setItem(reloaded, String(Date.now()));
  location.reload();
  return new Promise<never>(() => {});
}
