import type { EntityOperation, OperationResult } from '@parley/contracts';
import type { Db, Queryable } from '@parley/db';
import type { Entities } from '@parley/entities';
import {
  type CallerContext,
  type Handler,
  HttpError,
  RawJson,
  shareRequests,
} from '@parley/service';
import { type OperationDeps, applyOperation, createAll } from '../apply-operation';
import { changeOnce } from '../change-once';
import { type AccessDeps, type CallerAccess, requireAccess } from '../require-access';

type BulkDeps = AccessDeps &
  OperationDeps & { entities: Pick<Entities, 'lock' | 'createMany' | 'untilIndexed'> };
type Action = EntityOperation['action'];

/**
 * Bulk requests of a process at the same time. Each holds a body of up to 8 MiB, and waits for a
 * connection of its organization's share.
 */
const maxRunning = 6;

/** Problems that the answer lists. Every operation that has failed lists at least one. */
const maxProblems = 1_000;

/**
 * `POST /v1/data/:type/bulk`: all operations of a request are one transaction, so that a retry
 * changes nothing twice.
 */
export function changeEntities(deps: BulkDeps): Handler<'changeEntities'> {
  const shared = shareRequests({
    total: maxRunning,
    code: 'too_many_bulk_requests',
    message: 'Too many bulk requests of the organization are running at the same time',
  });
  return shared(async ({ params: { type }, body: { operations, atomic, dryRun } }, context) => {
    // Before the transaction, because reading the roles takes another connection.
    const access = await accessOfActions(deps, context, type, operations);
    const change = async (tx: Queryable): Promise<string> => {
      let problems = 0;
      const ids = operations.flatMap((operation) => ('id' in operation ? operation.id : []));
      await deps.entities.lock(context.scope, { type, ids }, tx);
      const results: OperationResult[] = [];
      const add = (outcome: { id: string } | HttpError): void => {
        if (!(outcome instanceof HttpError)) return void results.push({ ok: true, id: outcome.id });
        if (outcome.code === 'entity_type_not_found') throw outcome;
        if (atomic) throw inOperation(results.length, outcome);
        const details = outcome.extra.details?.slice(0, Math.max(1, maxProblems - problems));
        problems += details?.length ?? 0;
        results.push({ ok: false, error: outcome.message, code: outcome.code, details });
      };
      while (results.length < operations.length) {
        const operation = operations[results.length]!;
        const allowed = access.get(operation.action)!;
        if (allowed instanceof HttpError) add(allowed);
        else if (operation.action === 'create') {
          const entities = leadingCreates(operations.slice(results.length));
          for (const outcome of await createAll(deps, context, {
            type,
            entities,
            access: allowed,
            tx,
          }))
            add(outcome);
        } else
          add(
            await applyOperation(deps, context, { type, operation, access: allowed, tx }).catch(
              httpError,
            ),
          );
      }
      return JSON.stringify({ results });
    };
    if (access.has('create')) await deps.entities.untilIndexed(context.scope, type);
    const db: Pick<Db, 'transaction'> = {
      transaction: (work) => deps.db.transaction(work, { isLong: true }),
    };
    return new RawJson(
      await (dryRun ? undoing(db, change) : changeOnce(db, context.idempotency, 200, change)),
    );
  });
}

type Create = Extract<EntityOperation, { action: 'create' }>;

/**
 * Maximum number of creates in one statement. Preparing more at once would delay other requests
 * by milliseconds.
 */
const maxTogether = 100;

/** The creates before the first operation of another kind, as many as one statement stores. */
function leadingCreates(operations: readonly EntityOperation[]): Create[] {
  const end = operations.findIndex(
    ({ action }, index) => action !== 'create' || index === maxTogether,
  );
  return operations.slice(0, end === -1 ? undefined : end) as Create[];
}

/** Returns an error that an operation is answered with, and throws others. */
function httpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  throw error;
}

/** Runs `work` in a transaction that is rolled back, and returns its result. */
async function undoing<T>(
  db: Pick<Db, 'transaction'>,
  work: (tx: Queryable) => Promise<T>,
): Promise<T> {
  const rollback = new Error('rolled back on purpose');
  let result: [T] | undefined;
  await db
    .transaction(async (tx) => {
      result = [await work(tx)];
      throw rollback;
    })
    .catch((error: unknown) => {
      if (error !== rollback) throw error;
    });
  return result![0];
}

/**
 * The access for each action of the operations, or the error that denies it. Throws if the
 * type does not exist.
 */
async function accessOfActions(
  deps: AccessDeps,
  context: CallerContext,
  type: string,
  operations: readonly EntityOperation[],
): Promise<Map<Action, CallerAccess | HttpError>> {
  const actions = [...new Set(operations.map(({ action }) => action))];
  const list = actions.map(async (action) => {
    const access = await requireAccess(deps, context, action, type).catch((error: unknown) => {
      if (error instanceof HttpError && error.status === 403) return error;
      throw error;
    });
    return [action, access] as const;
  });
  return new Map(await Promise.all(list));
}

/** The error of an operation as the error of its request. */
function inOperation(index: number, { status, code, message, extra }: HttpError): HttpError {
  const place = `operations.${index}`;
  const details = extra.details?.map((detail) => ({ ...detail, path: `${place}.${detail.path}` }));
  const separator = details === undefined ? ': ' : '.';
  return new HttpError(status, code, `${place}${separator}${message}`, {
    details: details ?? [{ path: place, message }],
  });
}
