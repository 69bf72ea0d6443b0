import type { operationsOf } from '@parley/contracts';
import type { World } from '../create-test-api';

/** A valid request for an operation. */
export interface Sample {
  params?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  headers?: Record<string, string>;
  /** The resource belongs to the organization, not to one of its environments. */
  isOfOrganization?: boolean;
}

/** Prepares what the request needs in `world`, and returns the request. */
export type Prepare = (world: World) => Promise<Sample>;
/** The operations that the service serves. */
export type ManageOperation =
  keyof typeof operationsOf.manage | keyof typeof operationsOf.toolSecrets;
