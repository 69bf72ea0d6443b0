import type { ModelUsage } from './model';

type Counted = Omit<ModelUsage, 'totalTokens'> & Partial<ModelUsage>;

/** Adds two usages. Reasoning tokens are present only when one of the two has them. */
export function sumUsage<T extends Counted>(usage: T, other: ModelUsage | null): T {
  if (other === null) return usage;
  const reasoning = (usage.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0);
  const hasReasoning = (usage.reasoningTokens ?? other.reasoningTokens) !== undefined;
  return {
    ...usage,
    inputTokens: usage.inputTokens + other.inputTokens,
    outputTokens: usage.outputTokens + other.outputTokens,
    ...(usage.totalTokens !== undefined && { totalTokens: usage.totalTokens + other.totalTokens }),
    ...(hasReasoning && { reasoningTokens: reasoning }),
  };
}
