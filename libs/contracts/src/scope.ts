import { z } from 'zod';

export const environmentSchema = z.enum(['development', 'production']);
export type Environment = z.infer<typeof environmentSchema>;

/**
 * The organization and environment that an operation is limited to. The first parameter of
 * every store function.
 */
export interface Scope {
  organizationId: string;
  /** Number of the organization, stored in each of its rows. */
  tenant: number;
  environment: Environment;
}

/**
 * A permission of an API key (docs/reference/permissions.md#permissions-of-keys). `*` grants chat,
 * data and sync, and not `manage`, so that no key gained it when the management API was added.
 */
export const permissionSchema = z.enum(['*', 'chat', 'data', 'sync', 'manage']);
export type Permission = z.infer<typeof permissionSchema>;
