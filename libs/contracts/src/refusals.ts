type Listener = (limit: string, count: number) => void;

const listeners = new Set<Listener>();

/**
 * Reports that a limit has refused or postponed work; the metric `limit_refusals_total` counts it.
 * `limit`: a constant in snake_case, the `code` of the error where there is one. `count`: how much
 * of it was refused.
 */
export function reportRefusal(limit: string, count = 1): void {
  for (const listener of listeners) listener(limit, count);
}

/** Calls `listener` for each refusal in this process. */
export const onRefusal = (listener: Listener): void => void listeners.add(listener);
