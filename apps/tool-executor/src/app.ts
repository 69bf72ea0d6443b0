import type { RequestListener } from 'node:http';
import { operations, operationsOf } from '@parley/contracts';
import { type HttpMetrics, type Logger, createApp as createServiceApp, serve } from '@parley/service';
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
  return createServiceApp({
    routes: serve(
      { health: operations.health, ...operationsOf.executor },
      { health, execute: execute({ executor, chatUrl }), validate: validate({ executor }) },
      // Chat and the worker have it.
      { executor: requireToken(executorToken) },
    ),
    log,
    metrics,
    checkResponses,
    // No route of this service takes an API key.
    identify: async () => null,
  });
}
