import type { Environment, Permission } from './scope';

/** A key that was found valid: who may do what, in which environment. */
export interface ApiKeyIdentity {
  id: string;
  organizationId: string;
  environment: Environment;
  permissions: ReadonlySet<Permission>;
  /** Slug of the role that the Data API applies; null acts as the system actor. */
  role: string | null;
}
