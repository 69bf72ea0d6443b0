/** A list from a read replica is at most 3 s old (docs/operations.md#read-replica). */
const freshForMs = 5_000;

let changedAtMs = -Infinity;

/** Sends a request. For some seconds after each change, reads ask for what is stored now. */
export const fetchFresh: typeof fetch = (url, init) => {
  const isRead = (init?.method ?? 'GET') === 'GET';
  if (isRead) {
    const isFresh = performance.now() - changedAtMs < freshForMs;
    return fetch(
      url,
      isFresh ? { ...init, headers: { ...init?.headers, 'Cache-Control': 'no-cache' } } : init,
    );
  }
  return fetch(url, init).finally(() => {
    changedAtMs = performance.now();
  });
};
