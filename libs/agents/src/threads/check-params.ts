import type { ErrorDetail, Json, JsonObject, ThreadContextParam } from '@parley/contracts';

export type CheckedParams =
  { ok: true; params: JsonObject } | { ok: false; problems: ErrorDetail[] };

/**
 * Checks the `threadContext.params` of a message against the agent's `threadContextParams`
 * (docs/reference/chat.md#thread-context-params). Unknown params are dropped. A required one must
 * be in this message or in `stored`. Without a declaration all params are accepted.
 */
export function checkParams(
  declared: readonly ThreadContextParam[] | undefined,
  incoming: JsonObject,
  { stored, mustBeComplete }: { stored: JsonObject; mustBeComplete: boolean },
): CheckedParams {
  if (declared === undefined) return { ok: true, params: incoming };
  const problems: ErrorDetail[] = [];
  const params = new Map<string, Json>();
  for (const { name, type, required } of declared) {
    const path = `threadContext.params.${name}`;
    const value = Object.hasOwn(incoming, name) ? incoming[name] : undefined;
    const isAbsent = value === undefined || value === null;
    if (isAbsent) {
      const isStored = Object.hasOwn(stored, name) && stored[name] !== null && value !== null;
      if (required && mustBeComplete && !isStored) problems.push({ path, message: 'is required' });
      else if (value === null) params.set(name, null);
    } else if (typeOf(value) !== type) problems.push({ path, message: `must be ${article(type)}` });
    else params.set(name, value!);
  }
  return problems.length === 0
    ? { ok: true, params: Object.fromEntries(params) }
    : { ok: false, problems };
}

/**
 * The params of a thread as an agent may read them. Another agent of the thread, or an earlier
 * definition, may have stored a value of another type under a declared name: it is left out.
 */
export function declaredParams(
  declared: readonly ThreadContextParam[] = [],
  params: JsonObject,
): JsonObject {
  const types = new Map(declared.map(({ name, type }) => [name, type]));
  const fits = ([name, value]: [string, unknown]) =>
    value === null || (types.get(name) ?? typeOf(value)) === typeOf(value);
  return Object.fromEntries(Object.entries(params).filter(fits));
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);
const article = (type: string): string => (type === 'object' ? 'an object' : `a ${type}`);
