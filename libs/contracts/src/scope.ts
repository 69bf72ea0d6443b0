import { z } from 'zod';

export const environmentSchema = z.enum(['development', 'production']);
export type Environment = z.infer<typeof environmentSchema>;

/** Whose data a call may touch. First parameter of every store function: forgetting it does not compile. */
export interface Scope {
  organizationId: string;
  /** Number of the organization, which its rows carry. */
  tenant: number;
  environment: Environment;
}

/** What an API key may grant; `*` grants all (interface.md, Authentication). */
export const permissionSchema = z.enum(['*', 'chat', 'data', 'sync']);
export type Permission = z.infer<typeof permissionSchema>;
