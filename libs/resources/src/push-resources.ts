import {
  type ErrorDetail,
  type JsonObject,
  type KindResult,
  type RawResourceSet,
  type ResourceKind,
  type Scope,
  type SyncResult,
  resourceKinds,
} from '@parley/contracts';
import { type AuditSource, recordAudit } from '@parley/audit';
import { type Db, type Queryable, column, lockKey, statement } from '@parley/db';
import { lockTypes, setFollowedChanges } from '@parley/entities';
import { followedChanges } from '@parley/triggers';
import { type CheckHandler, checkHandlers } from './check-handlers';
import { checkParameters } from './check-parameters';
import { checkResources } from './check-resources';
import { type TooLarge, checkTotal } from './check-total';
import { type Definition, forEachKind, slugOf } from './definition';
import { type InUse, findInUse } from './find-in-use';
import { findReserved } from './find-reserved';
import { parseResources } from './parse-resources';
import { type Plan, planPush } from './plan-push';
import { type PushBudget, PushTooComplex, createPushBudget } from './push-budget';
import {
  readMcpServers,
  readOnlySnapshot,
  readStoredResources,
  readVersion,
} from './stored-resources';
import { deleteDefinitions, writeDefinitions } from './write-resources';

export interface PushRequest {
  /** Who pushes, for the audit log. */
  source: AuditSource;
  /**
   * Whether who pushes may also set secrets and create API keys. Others may not change definitions
   * that give rights.
   */
  mayGrantRights: boolean;
  /** A full or partial set. Kinds that are not given stay unchanged. */
  resources: RawResourceSet;
  /** Reports what the push would change, without changing it. */
  dryRun?: boolean;
  /** Deletes stored definitions that are missing from the given kinds. */
  prune?: boolean;
  /** Refuses the push unless the environment is at this version. */
  expectedVersion?: number;
  /** Names of the built-in tools, which definitions may refer to. */
  knownTools: readonly string[];
  /** Parses the handlers of tools; without it they are not checked. */
  checkHandler?: CheckHandler;
  /** Time for the checks, those of the tool executor excluded. Default 10 s. */
  checkLimitMs?: number;
}

/** Problems that one answer reports. */
const maxProblems = 1_000;

type PushResult =
  | { ok: true; result: SyncResult }
  | { ok: false; reason: 'invalid'; problems: ErrorDetail[] }
  | { ok: false; reason: 'version_conflict'; version: number }
  /** Changes that need `mayGrantRights`. Nothing was changed. */
  | { ok: false; reason: 'reserved'; problems: ErrorDetail[] }
  /**
   * The tool executor was unavailable, so the handlers could not be checked. Nothing was changed.
   */
  | { ok: false; reason: 'handlers_unchecked' }
  /**
   * Slow checks of the organization delayed those of the parameters of tools. Nothing was changed.
   */
  | { ok: false; reason: 'parameters_unchecked' }
  | { ok: false; reason: 'too_complex' }
  | ({ ok: false; reason: 'too_large' } & TooLarge);

/**
 * Creates, updates and prunes the definitions of an environment in one transaction
 * (docs/reference/sync.md#push). Pushes to the same environment run one at a time. Every problem is
 * reported before anything is written.
 */
export async function pushResources(
  db: Db,
  scope: Scope,
  request: PushRequest,
): Promise<PushResult> {
  const { checkHandler, resources, checkLimitMs = 10_000 } = request;
  const budget = createPushBudget(checkLimitMs);
  try {
    const parameters = await checkParameters(scope, resources, budget);
    if (parameters === null) return { ok: false, reason: 'parameters_unchecked' };
    const handlers = checkHandler ? await checkHandlers(db, scope, resources, checkHandler) : [];
    if (handlers === null) return { ok: false, reason: 'handlers_unchecked' };
    return await db.transaction(async (client) => {
      if (request.dryRun) await client.query(scope, readOnlySnapshot);
      else await lockPushes(client, scope, request);
      return push(client, scope, request, [...parameters, ...handlers], budget);
    });
  } catch (error) {
    if (error instanceof PushTooComplex) return { ok: false, reason: 'too_complex' };
    throw error;
  }
}

/**
 * Makes pushes to one environment wait for each other. The identity of an agent belongs to both
 * environments, so pushes with agents also wait for pushes to the other environment. The order of
 * the two locks rules out deadlocks.
 */
async function lockPushes(
  client: Queryable,
  scope: Scope,
  { resources }: PushRequest,
): Promise<void> {
  await client.query(scope, lockKey, {
    key: `parley-push-${scope.organizationId}-${scope.environment}`,
  });
  if (resources.agents !== undefined)
    await client.query(scope, lockKey, { key: `parley-push-agents-${scope.organizationId}` });
}

async function push(
  client: Queryable,
  scope: Scope,
  request: PushRequest,
  toolProblems: ErrorDetail[],
  budget: PushBudget,
): Promise<PushResult> {
  const { dryRun = false, prune = false, expectedVersion, knownTools } = request;
  const version = await readVersion(client, scope);
  if (expectedVersion !== undefined && expectedVersion !== version) {
    return { ok: false, reason: 'version_conflict', version };
  }
  const stored = await readStoredResources(client, scope);
  budget.resume();
  const { problems: shapeProblems, ...parsed } = await parseResources(request.resources, budget);
  const plan = planPush(parsed, stored);
  const pruned = prune ? await planDeletes(client, scope, plan, dryRun) : null;
  const deleted = forEachKind((kind) => new Set(pruned?.[kind]?.deleted));
  if (!request.mayGrantRights) {
    const reserved = await findReserved(client, scope, {
      plan,
      stored,
      deletedTools: deleted.tools,
    });
    if (reserved.length > 0)
      return { ok: false, reason: 'reserved', problems: reserved.slice(0, maxProblems) };
  }
  const mcpServers = await readMcpServers(client, scope);
  budget.resume();
  const checked = await checkResources(
    { ...parsed, stored, deleted, knownTools, mcpServers },
    budget,
  );
  const problems = [...shapeProblems, ...checked, ...toolProblems];
  if (problems.length > 0)
    return { ok: false, reason: 'invalid', problems: problems.slice(0, maxProblems) };
  const tooLarge = await checkTotal(client, scope, plan, deleted);
  if (tooLarge !== null) return { ok: false, reason: 'too_large', ...tooLarge };

  const results = describe(plan, pruned);
  const changes = Object.values(results).some(
    (kind) => kind.created.length + kind.updated.length + kind.deleted.length,
  );
  if (dryRun || !changes) return { ok: true, result: { dryRun, version, results } };
  for (const kind of resourceKinds) {
    await writeDefinitions(client, scope, kind, [
      ...(plan[kind]?.created ?? []),
      ...(plan[kind]?.updated ?? []),
    ]);
  }
  for (const kind of resourceKinds.toReversed())
    await deleteDefinitions(client, scope, kind, [...deleted[kind]]);
  const { created = [], updated = [] } = plan.triggers ?? {};
  const kept = [...stored.triggers.values()].map(({ definition }) => definition);
  const triggers = new Map(
    [...kept, ...created, ...updated].map((trigger) => [
      slugOf(trigger),
      trigger as Definition<'triggers'>,
    ]),
  );
  for (const slug of deleted.triggers) triggers.delete(slug);
  await setFollowedChanges(client, scope, followedChanges([...triggers.values()]));
  const pushed = await nextVersion(client, scope);
  await recordAudit(client, scope, request.source, {
    action: 'definitions.pushed',
    target: { type: 'environment', id: scope.environment },
    before: { version },
    after: { version: pushed, ...namesOf(results) },
  });
  return { ok: true, result: { dryRun, version: pushed, results } };
}

/** Names of each change in an entry of the audit log, whose size is limited. */
const maxNames = 60;

/**
 * What a push changed: `agents/helper` for each definition, and the number of those
 * that are left out.
 */
function namesOf(results: Partial<Record<ResourceKind, KindResult>>): JsonObject {
  const changes = (['created', 'updated', 'deleted'] as const).map((change) => {
    const names = resourceKinds.flatMap((kind) =>
      (results[kind]?.[change] ?? []).map((slug) => `${kind}/${slug}`),
    );
    const left = names.length - maxNames;
    return [change, left > 0 ? [...names.slice(0, maxNames), `and ${left} more`] : names] as const;
  });
  return Object.fromEntries(changes.filter(([, names]) => names.length > 0));
}

type Pruned = Partial<Record<ResourceKind, { deleted: string[]; refused: InUse[] }>>;

async function planDeletes(
  client: Queryable,
  scope: Scope,
  plan: Plan,
  dryRun: boolean,
): Promise<Pruned> {
  const pruned: Pruned = {};
  if (!dryRun) await lockTypes(client, scope, plan.entityTypes?.absent ?? []);
  for (const kind of resourceKinds) {
    const absent = plan[kind]?.absent;
    if (absent === undefined) continue;
    const refused = await findInUse(client, scope, kind, absent);
    const kept = new Set(refused.map(({ slug }) => slug));
    pruned[kind] = { deleted: absent.filter((slug) => !kept.has(slug)), refused };
  }
  return pruned;
}

function describe(plan: Plan, pruned: Pruned | null): Partial<Record<ResourceKind, KindResult>> {
  const results: Partial<Record<ResourceKind, KindResult>> = {};
  for (const kind of resourceKinds) {
    const kindPlan = plan[kind];
    if (kindPlan === undefined) continue;
    const { deleted = [], refused = [] } = pruned?.[kind] ?? {};
    results[kind] = {
      created: kindPlan.created.map(slugOf),
      updated: kindPlan.updated.map(slugOf),
      deleted,
      unchanged: kindPlan.unchanged,
      ...(refused.length > 0 ? { refused } : {}),
    };
  }
  return results;
}

const raiseVersion = statement(
  'raise-environment-version',
  `insert into environment_states (tenant, environment, version, updated_at)
   values ($tenant, $environment::"Environment", 1, now())
   on conflict (tenant, environment) do update
   set version = environment_states.version + 1, updated_at = excluded.updated_at
   returning version`,
  { version: column.int4 },
);

async function nextVersion(client: Queryable, scope: Scope): Promise<number> {
  const { rows } = await client.query(scope, raiseVersion, { environment: scope.environment });
  return rows[0]!.version;
}
