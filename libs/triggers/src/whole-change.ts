import type { JsonObject } from '@parley/contracts';
import type { Queryable } from '@parley/db';
import { queryEntities } from '@parley/entities';
import type { ClaimedRun } from './run-store';

/**
 * The change of a run. If its event has only a section of a large entity, the other keys, which no
 * trigger named when the event was recorded, are read from the entity.
 */
export async function wholeChange(
  db: Queryable,
  { scope, change, entityId, entityType }: ClaimedRun,
): Promise<ClaimedRun['change']> {
  if (!change?.isPartial) return change;
  const read = async (status?: string): Promise<JsonObject | undefined> => {
    const query = {
      type: entityType!,
      filters: { id: entityId },
      limit: 1,
      ...(status && { status }),
    };
    const found = await queryEntities(db, scope, query);
    return found.ok ? found.page.entities[0]?.data : undefined;
  };
  const current = (await read()) ?? (await read('deleted')) ?? {};
  const rest = Object.fromEntries(
    Object.entries(current).filter(([key]) => !Object.hasOwn(change.data, key)),
  );
  return {
    ...change,
    data: { ...rest, ...change.data },
    previousData: { ...rest, ...change.previousData },
  };
}
