import type { Scope } from '@parley/contracts';
import { isDatabaseUnavailable } from '@parley/db';

/** Entities of one statement. */
const maxTogether = 64;

interface Waiting<Entity, Result> {
  entity: Entity;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Stores creates of a type that arrive while an earlier one is being stored in one statement and one commit (docs/adr/0074). A single create
 * does not wait. If a statement of several fails, each of them is run alone, so that one entity cannot fail the others.
 */
export function createTogether<Entity, Result>(
  createMany: (scope: Scope, type: string, entities: readonly Entity[]) => Promise<Result[]>,
) {
  type Create = Waiting<Entity, Result>;
  /** The creates that wait for a running statement, by type. */
  const running = new Map<string, Create[]>();

  async function run(scope: Scope, type: string, batch: readonly Create[]): Promise<void> {
    try {
      const results = await createMany(
        scope,
        type,
        batch.map(({ entity }) => entity),
      );
      batch.forEach(({ resolve }, at) => resolve(results[at]!));
    } catch (error) {
      if (batch.length === 1 || isDatabaseUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await run(scope, type, [one]);
    }
  }

  return function create(scope: Scope, type: string, entity: Entity): Promise<Result> {
    const key = `${scope.tenant} ${scope.environment} ${type}`;
    const next = (batch: Create[], waiting: Create[]): void => {
      if (batch.length === 0) running.delete(key);
      else void run(scope, type, batch).then(() => next(waiting.splice(0, maxTogether), waiting));
    };
    return new Promise((resolve, reject) => {
      const create = { entity, resolve, reject };
      const waiting = running.get(key);
      if (waiting !== undefined) return void waiting.push(create);
      const later: Create[] = [];
      running.set(key, later);
      next([create], later);
    });
  };
}
