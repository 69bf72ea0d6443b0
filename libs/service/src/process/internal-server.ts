import { createServer, type Server } from 'node:http';
import type { Metrics } from './metrics';

export interface Readiness {
  /** Named checks of what the service cannot work without; each throws when it is not there. */
  checks: Record<string, () => Promise<unknown>>;
  isShuttingDown: () => boolean;
}

const checkTimeoutMs = 2_000;

/** `/livez`, `/readyz` and `/metrics`, on a port of their own that no client reaches. */
export function createInternalServer(metrics: Metrics, readiness: Readiness): Server {
  return createServer(async (request, response) => {
    const send = (status: number, body: unknown) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/livez') return send(200, { status: 'ok' });
    if (request.url === '/readyz') {
      const checks = await runChecks(readiness);
      const ready = Object.values(checks).every((result) => result === 'ok');
      return send(ready ? 200 : 503, { status: ready ? 'ok' : 'unavailable', checks });
    }
    if (request.url === '/metrics') {
      response.writeHead(200, { 'Content-Type': metrics.registry.contentType });
      return response.end(await metrics.registry.metrics());
    }
    send(404, { error: 'Not found' });
  });
}

async function runChecks({ checks, isShuttingDown }: Readiness): Promise<Record<string, string>> {
  if (isShuttingDown()) return { process: 'shutting down' };
  const results = Object.entries(checks).map(async ([name, check]) => [name, await outcome(check)] as const);
  return Object.fromEntries(await Promise.all(results));
}

async function outcome(check: () => Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${checkTimeoutMs} ms`)), checkTimeoutMs);
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
