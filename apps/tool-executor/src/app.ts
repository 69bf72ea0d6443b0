import { type HttpMetrics, type Logger, createApp as createServiceApp } from '@parley/service';
import type { RequestListener } from 'node:http';
import type { Executor } from './executor';
import { requireToken } from './require-token';
import { execute } from './routes/execute';
import { health } from './routes/health';
import { validate } from './routes/validate';

export interface AppDeps {
  executor: Executor;
  executorToken: string;
  chatUrl: string;
  log: Logger;
  metrics?: HttpMetrics;
  checkResponses: boolean;
}

/** The tool executor: user-written handlers, each in a sandbox of its own. */
export function createApp({
  executor,
  executorToken,
  chatUrl,
  log,
  metrics,
  checkResponses,
}: AppDeps): RequestListener {
  const guard = requireToken(executorToken);
  return createServiceApp({
    routes: [
      health(), // anyone
      execute({ executor, chatUrl, guard }), // who has the executor's token: chat and worker
      validate({ executor, guard }), // the same
    ],
    log,
    metrics,
    checkResponses,
    // No route of this service takes an API key.
    checkKey: async () => null,
  });
}
