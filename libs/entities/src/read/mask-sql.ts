import type { JsonObject } from '@parley/contracts';
import type { Mask } from '../access';
import type { Sql } from '../sql';

/**
 * SQL of an entity's data without its masked fields. All masks are one parameter, so that neither
 * the text nor the planning time grows with their number. If masks overlap, `hide` wins over
 * `redact`, and the mask of an object wins over those of its fields. A path that leads through an
 * array hides or redacts the whole array.
 */
export function maskedSql(data: string, masks: readonly Mask[], sql: Sql): string {
  if (masks.length === 0) return data;
  const tree = maskTree(masks);
  // The common case. The operator `-` takes a tenth of the function's time.
  if (Object.values(tree).every((mask) => mask === 'hide'))
    return `(${data} - ${sql.param(Object.keys(tree), 'text[]')})`;
  return `masked_fields(${data}, ${sql.param(JSON.stringify(tree), 'jsonb')})::jsonb`;
}

/** The argument `masks` of the SQL function `masked_fields`. */
function maskTree(masks: readonly Mask[]): JsonObject {
  const byKey = Map.groupBy(masks, ({ path }) => path[0]!);
  return Object.fromEntries(
    [...byKey].map(([key, list]) => {
      const whole = list.filter(({ path }) => path.length === 1);
      if (whole.length > 0) return [key, widest(whole)];
      const fields = maskTree(list.map(({ path: [, ...rest], kind }) => ({ path: rest, kind })));
      return [key, { array: widest(list), fields }];
    }),
  );
}

const widest = (masks: readonly Mask[]): Mask['kind'] =>
  masks.some(({ kind }) => kind === 'hide') ? 'hide' : 'redact';
