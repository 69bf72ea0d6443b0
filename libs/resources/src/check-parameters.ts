import type { ErrorDetail, JsonObject, RawResourceSet, Scope } from '@parley/contracts';
import { parameterProblems } from '@parley/tools';
import { pathOf } from './parse-resources';
import type { PushBudget } from './push-budget';

/**
 * The problems of the `parameters` of tools; null if they could not be checked. Like checkHandlers,
 * this runs before the transaction of a push, because other pushes wait for that transaction.
 */
export async function checkParameters(
  scope: Scope,
  { tools = [] }: RawResourceSet,
  budget: PushBudget,
): Promise<ErrorDetail[] | null> {
  const problems: ErrorDetail[] = [];
  budget.resume();
  for (const [index, tool] of tools.entries()) {
    const { parameters } = (tool ?? {}) as { parameters?: unknown };
    // An invalid shape is reported by parseResources.
    if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
      continue;
    const found = await parameterProblems(parameters as JsonObject, scope.organizationId);
    if (found === null) return null;
    for (const { path, message } of found)
      problems.push({
        path: pathOf('tools', index, path === '' ? 'parameters' : `parameters.${path}`),
        message,
      });
    await budget.pause();
  }
  return problems;
}
