import type { Permission, Scope } from './scope';

interface Identified extends Scope {
  id: string;
  permissions: ReadonlySet<Permission>;
}

/** The sender of a request: an API key, which belongs to one environment, or a signed-in person. */
export type Caller =
  | (Identified & {
      type: 'api_key';
      /** Slug of the key's role. Null: the key acts as the system. */
      role: string | null;
    })
  | (Identified & { type: 'person' });
