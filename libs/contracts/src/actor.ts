/** On whose behalf something is done; permissions are decided for it and events name it. */
export type Actor =
  /** `trigger`: the slug of the trigger that acts, when one does. */
  | { type: 'system'; trigger?: string }
  | { type: 'webhook'; provider: string }
  | { type: 'agent'; slug: string; roles: string[]; userId?: string; entityId?: string }
  /** `callerId`: id of the API key or the person that sent the request. */
  | { type: 'user'; callerId: string; roles: string[]; userId?: string; entityId?: string };

/** Who writes on a channel: what an agent with roles acts on behalf of there. */
export interface Contact {
  /** `actor.userId`: the first phone number that was known, else the channel's scoped id until a number is known. */
  id: string;
  /** The one that became known last. Null while only a scoped id of the channel is known. */
  phoneNumber: string | null;
  /** Entity type in which contacts are found by their number: `actor.entityId`. Null when the connection names none. */
  entityType: string | null;
}
