import type { RequestListener } from 'node:http';
import { operations, operationsOf } from '@parley/contracts';
import { type HttpMetrics, type Logger, createApp, serve } from '@parley/service';
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

/**
 * The HTTP app of the tool executor, which runs user-written handlers
 * (docs/reference/tools.md#tool-executor).
 */
export function createExecutorApp({
  executor,
  executorToken,
  chatUrl,
  log,
  metrics,
  checkResponses,
}: AppDeps): RequestListener {
  return createApp({
    routes: serve(
      { health: operations.health, ...operationsOf.executor },
      { health, execute: execute({ executor, chatUrl }), validate: validate({ executor }) },
      // Chat and the worker have this token.
      { executor: requireToken(executorToken) },
    ),
    log,
    metrics,
    checkResponses,
    // No route of this service takes an API key.
    identify: async () => null,
  });
}
