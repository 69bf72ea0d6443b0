import { heldUntil, heldWork } from '@parley/db';

/** Events whose triggers have not been planned: the relay takes those without `relayed_at`. */
export const heldEvents = heldWork({
  kind: 'events',
  table: 'events',
  isOpen: 'relayed_at is null',
  isHeld: `relayed_at = ${heldUntil}`,
  hold: `relayed_at = ${heldUntil}`,
  release: 'relayed_at = null',
  drop: 'relayed_at = now()',
});
