import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { Metrics } from './metrics';

export interface Readiness {
  /**
   * Checks of the dependencies that the service requires, by name. Each throws when its
   * dependency is unavailable.
   */
  checks: Record<string, () => Promise<unknown>>;
  isShuttingDown: () => boolean;
}

const checkTimeoutMs = 2_000;

/**
 * Serves `/livez`, `/readyz`, `/metrics` and `/settings` on a separate port that is not public.
 * `/settings` has the names of the variables of `config` that have a value, never a value, so that
 * `parley doctor` knows what the process was started with.
 */
export function createInternalServer(
  metrics: Metrics,
  readiness: Readiness,
  config: object,
): Server {
  const settings = Object.entries(config)
    .filter(
      ([, value]) =>
        value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0),
    )
    .map(([name]) => name)
    .sort();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const send = (status: number, body: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (request.url === '/livez') return send(200, { status: 'ok' });
    if (request.url === '/readyz') {
      const checks = await runChecks(readiness);
      const ready = Object.values(checks).every((result) => result === 'ok');
      return send(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
    }
    if (request.url === '/settings')
      return send(200, { settings, node: process.versions.node, nowMs: Date.now() });
    if (request.url === '/metrics') {
      const text = await metrics.registry.metrics();
      return response.writeHead(200, { 'Content-Type': metrics.registry.contentType }).end(text);
    }
    return send(404, { error: 'Not found' });
  };
  return createServer((request, response) => {
    // An error while a metric is read must not end the process.
    answer(request, response).catch(() => response.writeHead(500).end());
  });
}

async function runChecks({ checks, isShuttingDown }: Readiness): Promise<Record<string, string>> {
  if (isShuttingDown()) return { process: 'shutting down' };
  const results = Object.entries(checks).map(
    async ([name, check]) => [name, await outcome(check)] as const,
  );
  return Object.fromEntries(await Promise.all(results));
}

async function outcome(check: () => Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`no answer within ${checkTimeoutMs} ms`)),
      checkTimeoutMs,
    );
  });
  try {
    await Promise.race([check(), late]);
    return 'ok';
  } catch (error) {
    return error instanceof Error ? error.message || error.name : String(error);
  } finally {
    clearTimeout(timer);
  }
}
