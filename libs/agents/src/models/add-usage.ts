import type { ModelUsage } from './model';

type Counted = Omit<ModelUsage, 'totalTokens'> & Partial<ModelUsage>;

/** Both together; reasoning tokens only when one of them has any. */
export function addUsage<T extends Counted>(one: T, other: ModelUsage | null): T {
  if (other === null) return one;
  const reasoning = (one.reasoningTokens ?? 0) + (other.reasoningTokens ?? 0);
  const hasReasoning = (one.reasoningTokens ?? other.reasoningTokens) !== undefined;
  return {
    ...one,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    ...(one.totalTokens !== undefined && { totalTokens: one.totalTokens + other.totalTokens }),
    ...(hasReasoning && { reasoningTokens: reasoning }),
  };
}
