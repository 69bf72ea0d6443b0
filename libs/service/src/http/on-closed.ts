import type { ServerResponse } from 'node:http';

/**
 * Runs a function once, when a response has been sent or its connection has closed. That may have
 * happened before this call, after which Node.js emits no event.
 */
export function onClosed(response: ServerResponse, run: () => void): void {
  if (response.closed || response.destroyed) run();
  else response.once('close', run);
}
