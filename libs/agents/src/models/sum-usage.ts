import type { ModelUsage } from './model';

type Counted = Omit<ModelUsage, 'totalTokens'> & Partial<ModelUsage>;

/** What not every provider reports. */
const optional = ['reasoningTokens', 'cacheReadTokens', 'cacheWriteTokens'] as const;

/** Adds two usages. What is optional is present only when one of the two has it. */
export function sumUsage<T extends Counted>(usage: T, other: ModelUsage | null | undefined): T {
  if (other == null) return usage;
  const sum: T = {
    ...usage,
    inputTokens: usage.inputTokens + other.inputTokens,
    outputTokens: usage.outputTokens + other.outputTokens,
    ...(usage.totalTokens !== undefined && { totalTokens: usage.totalTokens + other.totalTokens }),
  };
  for (const name of optional) {
    const tokens = (usage[name] ?? 0) + (other[name] ?? 0);
    if ((usage[name] ?? other[name]) !== undefined) Object.assign(sum, { [name]: tokens });
  }
  return sum;
}
