import type { Scope } from '@parley/contracts';
import { type Queryable, column, statement } from '@parley/db';

const switchTrigger = statement(
  'switch-trigger',
  `with found as (
     select id, enabled as before, coalesce((definition ->> 'enabled')::boolean, true) as allowed from triggers
     where tenant = $tenant and environment = $environment::"Environment" and slug = $slug for update),
   changed as (
     update triggers t set enabled = $isEnabled from found where t.tenant = $tenant and t.id = found.id
       and (allowed or not $isEnabled) and before <> $isEnabled)
   select before, allowed from found`,
  { before: column.bool, allowed: column.bool },
);

/**
 * Enables or disables a trigger until a push changes it. Returns its state before;
 * `disabled_by_definition` for one that was pushed with `enabled: false`, which only a push can
 * enable, as a push also decides which changes are followed.
 */
export async function setTriggerEnabled(
  db: Queryable,
  scope: Scope,
  slug: string,
  isEnabled: boolean,
): Promise<{ wasEnabled: boolean } | 'not_found' | 'disabled_by_definition'> {
  const { rows } = await db.query(scope, switchTrigger, {
    environment: scope.environment,
    slug,
    isEnabled,
  });
  if (rows[0] === undefined) return 'not_found';
  return isEnabled && !rows[0].allowed ? 'disabled_by_definition' : { wasEnabled: rows[0].before };
}
