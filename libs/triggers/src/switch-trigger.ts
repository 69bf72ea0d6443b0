import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const switchTrigger = statement(
  'switch-trigger',
  `with found as (
     select id, enabled as before, coalesce((definition ->> 'enabled')::boolean, true) as allowed from triggers
     where tenant = $1 and environment = $2::"Environment" and slug = $3 for update),
   changed as (
     update triggers t set enabled = $4 from found where t.tenant = $1 and t.id = found.id and (allowed or not $4) and before <> $4)
   select before, allowed from found`,
  { before: column.bool, allowed: column.bool },
);

/**
 * Enables or disables a trigger until a push changes it. Returns its state before; `disabled_by_definition` for one that was
 * pushed with `enabled: false`, which only a push can enable, as a push also decides which changes are followed.
 */
export async function setTriggerEnabled(
  db: Queryable,
  scope: Scope,
  slug: string,
  isEnabled: boolean,
): Promise<{ wasEnabled: boolean } | 'not_found' | 'disabled_by_definition'> {
  const { rows } = await db.query(scope, switchTrigger, [
    scope.tenant,
    scope.environment,
    slug,
    isEnabled,
  ]);
  if (rows[0] === undefined) return 'not_found';
  return isEnabled && !rows[0].allowed ? 'disabled_by_definition' : { wasEnabled: rows[0].before };
}
