/** Who asked for what the system or an agent does. Permissions do not depend on it. */
export interface Author {
  type: 'person' | 'api_key';
  id: string;
}

/** Who performs an operation. Permissions are checked for the actor, and events record it. */
export type Actor =
  /**
   * `trigger`: slug of the trigger, if the operation is an action of one. `by`: who
   * fired it by hand.
   */
  | { type: 'system'; trigger?: string; by?: Author }
  | { type: 'webhook'; provider: string }
  /**
   * A signed-in person of the organization. What it may do depends on its role there
   * (docs/reference/permissions.md#people).
   */
  | { type: 'person'; id: string; userId?: string; entityId?: string }
  | {
      type: 'agent';
      slug: string;
      roles: string[];
      /**
       * The roles of its callers, a list for each: a key with a role, agents that asked it. All
       * must allow what it does.
       */
      within?: string[][];
      /** The system asked an agent without roles, which keeps the rights of the system. */
      bySystem?: true;
      /** The signed-in person who asked the agent. */
      by?: Author;
      userId?: string;
      entityId?: string;
    }
  /**
   * The code of a custom tool with `runAs`: its role or `system`. `roles`: lists of roles of which
   * each must allow what it does: those of the `runAs` tools that contain it, and its own.
   * `calledBy`: who called the outermost of these tools.
   */
  | {
      type: 'tool';
      name: string;
      runAs: string;
      roles: string[][];
      calledBy: Exclude<Actor, { type: 'tool' }>;
      userId?: string;
      entityId?: string;
    }
  /** `callerId`: id of the API key that sent the request. */
  | { type: 'user'; callerId: string; roles: string[]; userId?: string; entityId?: string };

/** The person at the other end of a channel. An agent with roles acts on behalf of the contact. */
export interface Contact {
  /**
   * `actor.userId`: the first known phone number, or the channel's scoped id while no
   * number is known.
   */
  id: string;
  /** The latest known number. Null while only a scoped id of the channel is known. */
  phoneNumber: string | null;
  /**
   * Entity type in which `actor.entityId` is looked up by phone number. Null if the
   * connection names none.
   */
  entityType: string | null;
}
