const listeners = new Set<(limit: string) => void>();

/**
 * Reports that a limit has refused or postponed work; the metric `limit_refusals_total` counts it. `limit`: a constant in snake_case, the
 * `code` of the error where there is one.
 */
export function reportRefusal(limit: string): void {
  for (const listener of listeners) listener(limit);
}

/** Calls `listener` for each refusal in this process. */
export const onRefusal = (listener: (limit: string) => void): void => void listeners.add(listener);
