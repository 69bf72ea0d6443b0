import type { Actor } from '@parley/contracts';

/** Where a change comes from; told in its event. */
export interface Origin {
  actor: Actor;
  /** Triggers between this change and the one a person made. */
  hops?: number;
  requestId?: string;
}

export type EntityEvent = 'entity.created' | 'entity.updated' | 'entity.deleted';
