/** On whose behalf something is done; permissions are decided for it and events name it. */
export type Actor =
  /** `trigger`: the automation that acts. */
  | { type: 'system'; trigger?: string }
  | { type: 'webhook'; provider: string }
  | { type: 'agent'; slug: string; roles: string[]; userId?: string; entityId?: string }
  | { type: 'user'; apiKeyId: string; roles: string[]; userId?: string; entityId?: string };

export type ActorType = Actor['type'];
