import { z } from 'zod';
import type { Metrics } from './metrics';
import { ownValue } from '@parley/contracts';
import {
  type ModelOutcome,
  type ToolOutcome,
  tracedModelCall,
  tracedToolCall,
} from '../tracing/traced-calls';

/** The settings of a model call: the models that may answer, in order. */
interface ModelChoice {
  candidates: readonly [string, ...string[]];
}

interface Price {
  /** US dollars per million tokens. */
  input: number;
  output: number;
}

/** The properties of a `pg` pool that are measured. */
interface WatchedPool {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

const priceTable = z.record(
  z.string(),
  z.strictObject({ input: z.number().min(0), output: z.number().min(0) }),
);

/**
 * Prices of models, for the metric of cost. Configured, because prices change too often to be
 * part of the code.
 */
export const modelPriceVariables = {
  MODEL_PRICES: z
    .string()
    .default('{}')
    .transform((text, context): Record<string, Price> => {
      try {
        return priceTable.parse(JSON.parse(text));
      } catch {
        context.addIssue({
          code: 'custom',
          message:
            'must be JSON like {"openai/gpt-5-mini":{"input":0.25,"output":2}}, in US dollars per million tokens',
        });
        return z.NEVER;
      }
    })
    .meta({
      description:
        'Prices of models in US dollars per million tokens, as JSON: {"provider/name":{"input":0.25,"output":2}}. Used only for the metric model_cost_usd_total.',
    }),
};

/** Agents may use any model name. To bound the label, further names are counted as `other`. */
const maxModels = 100;

/** Metrics and spans of model calls, tool calls, rate limits and database connections. */
export function createWorkMetrics(
  metrics: Metrics,
  { prices = {} }: { prices?: Record<string, Price> } = {},
) {
  const models = new Set<string>();
  const labelOf = (model: string): string => {
    if (models.size < maxModels) models.add(model);
    return models.has(model) ? model : 'other';
  };
  const modelSeconds = metrics.histogram(
    'model_call_duration_seconds',
    'Time of model calls with their retries in seconds, by outcome.',
    ['model', 'outcome'],
    [0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
  );
  const tokens = metrics.counter(
    'model_tokens_total',
    'Tokens of model calls, as reported by the providers.',
    ['model', 'direction'],
  );
  const cost = metrics.counter(
    'model_cost_usd_total',
    'Cost of model calls in US dollars, by the prices in MODEL_PRICES.',
    ['model'],
  );
  const toolSeconds = metrics.histogram(
    'tool_call_duration_seconds',
    'Time of tool calls in seconds, by outcome.',
    ['tool', 'outcome'],
    [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30],
  );

  function count(outcome: ModelOutcome): void {
    const model = labelOf(outcome.model);
    modelSeconds.observe(
      { model, outcome: outcome.ok ? 'ok' : outcome.reason },
      outcome.durationMs / 1_000,
    );
    if (!outcome.ok) return;
    const { inputTokens, outputTokens } = outcome.reply.usage;
    tokens.inc({ model, direction: 'input' }, inputTokens);
    tokens.inc({ model, direction: 'output' }, outputTokens);
    const price = ownValue(prices, outcome.model);
    if (price)
      cost.inc({ model }, (inputTokens * price.input + outputTokens * price.output) / 1_000_000);
  }

  return {
    /** Returns the same models with metrics. */
    observeModels<
      M extends {
        complete(scope: never, choice: never, ...rest: never[]): Promise<ModelOutcome>;
      },
    >(inner: M): M {
      const complete = async (scope: never, choice: never, ...rest: never[]) => {
        const [model] = (choice as ModelChoice).candidates;
        const outcome = await tracedModelCall(model, () => inner.complete(scope, choice, ...rest));
        count(outcome);
        return outcome;
      };
      return { ...inner, complete };
    },
    /**
     * Returns the same agents with a metric of their turns. A turn waits for its model, so the CPU
     * does not show the load.
     */
    observeTurns<
      A extends {
        chat(...args: never[]): Promise<unknown>;
        runExecution(...args: never[]): Promise<unknown>;
      },
    >(inner: A): A {
      let running = 0;
      const gauge = metrics.gauge(
        'turns_in_flight',
        'Turns of agents that the process is answering.',
        [],
        () => {
          gauge.set(running);
        },
      );
      const counted =
        <R>(turn: (...args: never[]) => Promise<R>) =>
        async (...args: never[]): Promise<R> => {
          running += 1;
          try {
            return await turn(...args);
          } finally {
            running -= 1;
          }
        };
      return { ...inner, chat: counted(inner.chat), runExecution: counted(inner.runExecution) };
    },
    /**
     * Returns the same tools with metrics. Custom and MCP tools share a label, because their names
     * are not bounded.
     */
    observeTools<T extends { run(scope: never, call: never): Promise<ToolOutcome> }>(
      inner: T,
      builtIns: readonly string[],
    ): T {
      const known = new Set(builtIns);
      const run = async (scope: never, call: never) => {
        const { name } = call as { name: string };
        const tool = known.has(name) ? name : name.startsWith('mcp.') ? 'mcp' : 'custom';
        const startedAt = performance.now();
        const outcome = await tracedToolCall(name, () => inner.run(scope, call));
        toolSeconds.observe(
          { tool, outcome: outcome.ok ? 'ok' : outcome.errorType },
          (performance.now() - startedAt) / 1_000,
        );
        return outcome;
      };
      return { ...inner, run };
    },
    /** Creates a limiter with metrics. */
    observeLimiter<
      L extends {
        blockedUntil(key: never): number;
        admit(key: never): number | Promise<number>;
      },
    >(create: (onSkip: () => void) => L): L {
      const skipped = metrics.counter(
        'rate_limit_skipped_total',
        'Requests that were admitted without a rate limit because Redis was unavailable.',
        [],
      );
      const inner = create(() => skipped.inc());
      const decisions = metrics.counter(
        'rate_limit_decisions_total',
        'Requests that the rate limit admitted or refused.',
        ['decision'],
      );
      const count = (waitUntilMs: number) => {
        decisions.inc({ decision: waitUntilMs > 0 ? 'refused' : 'admitted' });
        return waitUntilMs;
      };
      return {
        ...inner,
        blockedUntil(key: never) {
          const untilMs = inner.blockedUntil(key);
          return untilMs > 0 ? count(untilMs) : 0;
        },
        admit(key: never) {
          const decided = inner.admit(key);
          return typeof decided === 'number' ? count(decided) : decided.then(count);
        },
      };
    },
    /** Measures the open and idle connections, and the requests that wait for one. */
    watchPool(pool: WatchedPool): void {
      const read = {
        total: () => pool.totalCount,
        idle: () => pool.idleCount,
        waiting: () => pool.waitingCount,
      };
      const gauge = metrics.gauge(
        'database_pool_connections',
        'Connections to PostgreSQL: total, idle, and requests that wait for one.',
        ['state'],
        () => {
          for (const [state, value] of Object.entries(read))
            gauge.set({ state: state as keyof typeof read }, value());
        },
      );
    },
  };
}

/** Opens a replica with metrics. `lagSeconds` returns null while the lag is not known. */
export function observeReplica<R extends { lagSeconds(): number | null }>(
  metrics: Metrics,
  open: (onRead: (server: 'replica' | 'primary') => void) => R,
): R {
  const reads = metrics.counter(
    'database_reads_total',
    'Statements of lists and counts that may be read from the replica, by the server that answered.',
    ['server'],
  );
  const replica = open((server) => reads.inc({ server }));
  const gauge = metrics.gauge(
    'database_replica_lag_seconds',
    'How far the replica is behind the primary in seconds, as of the last measurement.',
    [],
    () => {
      const seconds = replica.lagSeconds();
      if (seconds === null) gauge.remove();
      else gauge.set(seconds);
    },
  );
  return replica;
}
