import type { OperationEnd } from './operation';
import { traced } from './tracing';

interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** The result of a model call (`ModelResult` of libs/agents). */
export type ModelOutcome = { model: string; durationMs: number } & (
  { ok: true; reply: { usage: Usage } } | { ok: false; reason: string; usage?: Usage }
);
export type ToolOutcome = { ok: true } | { ok: false; errorType: string };

/** Names of providers in OpenTelemetry's conventions, where they are not ours. */
const providerNames: Record<string, string> = { google: 'gcp.gemini' };

/**
 * Runs a call of a model with its retries and fallbacks in a span. `model`: the first candidate, as
 * `provider/name`.
 */
export function tracedModelCall<T extends ModelOutcome>(
  model: string,
  call: () => Promise<T>,
): Promise<T> {
  const { provider, name } = splitModel(model);
  return traced(
    {
      name: `chat ${name}`,
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'gen_ai.request.model': name,
      },
    },
    call,
    endOfModelCall,
  );
}

function endOfModelCall(outcome: ModelOutcome): OperationEnd {
  const { provider, name } = splitModel(outcome.model);
  const usage = outcome.ok ? outcome.reply.usage : outcome.usage;
  return {
    attributes: {
      // A fallback may have answered.
      'gen_ai.provider.name': provider,
      'gen_ai.response.model': outcome.ok ? name : undefined,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
    },
    error: outcome.ok ? undefined : outcome.reason,
  };
}

/** A model without a provider belongs to OpenAI. */
function splitModel(model: string): { provider: string; name: string } {
  const slash = model.indexOf('/');
  if (slash === -1) return { provider: 'openai', name: model };
  const provider = model.slice(0, slash).toLowerCase();
  return { provider: providerNames[provider] ?? provider, name: model.slice(slash + 1) };
}

/** Names that tools can have. Any other is text of a model or a caller. */
const toolName = /^[a-zA-Z][\w.-]{0,127}$/;

/** Runs a tool in a span. */
export function tracedToolCall<T extends ToolOutcome>(
  given: string,
  call: () => Promise<T>,
): Promise<T> {
  const name = toolName.test(given) ? given : 'unknown';
  return traced(
    {
      name: `execute_tool ${name}`,
      kind: 'internal',
      attributes: { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name },
    },
    call,
    (outcome) => ({ error: outcome.ok ? undefined : outcome.errorType }),
  );
}
