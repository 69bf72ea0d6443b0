import {
  type ErrorDetail,
  type RawResourceSet,
  type ResourceKind,
  type Scope,
  resourceKinds,
} from '@parley/contracts';
import type { Db } from '@parley/db';
import { checkParameters } from './check-parameters';
import { checkResources } from './check-resources';
import { type Definition, forEachKind, singular, slugOf } from './definition';
import { parseResources } from './parse-resources';
import { createPushBudget } from './push-budget';
import { readMcpServers, readOnlySnapshot, readStoredResources } from './stored-resources';

/** `subject`: the definition, such as `agent "helper"`. */
interface StoredProblem extends ErrorDetail {
  subject: string;
}

/**
 * The problems that a push of the stored definitions of an environment would report, other than
 * those of handlers. Rules are added in new versions, and do not apply to what is stored until it
 * is pushed again. `path` is relative to the definition.
 */
export async function storedProblems(
  db: Db,
  scope: Scope,
  knownTools: readonly string[],
): Promise<StoredProblem[]> {
  const { stored, mcpServers } = await db.transaction(async (client) => {
    await client.query(scope, readOnlySnapshot);
    return {
      stored: await readStoredResources(client, scope),
      mcpServers: await readMcpServers(client, scope),
    };
  });
  const given: Record<ResourceKind, Definition[]> = forEachKind((kind) =>
    [...stored[kind].values()].map(({ definition }) => definition),
  );
  const budget = createPushBudget(Infinity);
  const { problems: shapeProblems, ...parsed } = await parseResources(
    given as RawResourceSet,
    budget,
  );
  const deleted = forEachKind(() => new Set<string>());
  // As if nothing were stored: rules that were added later apply to all definitions.
  const nothing = forEachKind(() => new Map()) as typeof stored;
  const checked = await checkResources(
    { ...parsed, stored: nothing, deleted, knownTools, mcpServers },
    budget,
  );
  const parameters = (await checkParameters(scope, given as RawResourceSet, budget)) ?? [];
  return [...shapeProblems, ...checked, ...parameters].map(({ path, message }) => {
    const [kind, index, ...rest] = path.split('.');
    const named = resourceKinds.find((name) => name === kind)!;
    const subject = `${singular[named]} "${slugOf(given[named][Number(index)]!)}"`;
    return { subject, path: rest.join('.'), message };
  });
}
