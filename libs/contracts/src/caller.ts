import type { Permission, Scope } from './scope';

interface Identified extends Scope {
  id: string;
  permissions: ReadonlySet<Permission>;
}

/** Who sends a request: an API key, which fixes the environment, or a person who is signed in. */
export type Caller =
  | (Identified & {
      type: 'api_key';
      /** Slug of the role that the Data API applies; null acts as the system actor. */
      role: string | null;
    })
  | (Identified & { type: 'person' });
