import { heldUntil, heldWork } from '@parley/db';

/** Deletions of organizations. `parley org purges --stop` may have stopped one since the backup. */
export const heldPurges = heldWork({
  kind: 'purges',
  table: 'organization_purges',
  isOpen: 'finished_at is null and stopped_at is null',
  isHeld: `run_at = ${heldUntil} and finished_at is null and stopped_at is null`,
  hold: `run_at = ${heldUntil}`,
  release: 'run_at = now()',
  drop: null,
  environment: 'null::text',
});
