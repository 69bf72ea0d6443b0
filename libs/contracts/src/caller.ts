import type { Permission, Scope } from './scope';

/**
 * What a person may do in an organization: a member reads, answers and edits; an admin also changes
 * keys, people and settings.
 */
export type PersonRole = 'admin' | 'member';

/** The sender of a request: an API key, which belongs to one environment, or a signed-in person. */
export type Caller =
  | (Scope & {
      type: 'api_key';
      id: string;
      /** Name of the key. */
      name: string;
      permissions: ReadonlySet<Permission>;
      /** Slug of the key's role. Null: the key acts as the system. */
      role: string | null;
    })
  | (Scope & {
      type: 'person';
      /** Id of the user. */
      id: string;
      /** Name of the person, else the e-mail address, which has a mark when it is not proved. */
      name: string;
      email: string | null;
      /**
       * Whether the address is proved in the organization
       * (docs/reference/sign-in.md#e-mail-addresses).
       */
      isEmailProved: boolean;
      sessionId: string;
      role: PersonRole;
    });

/**
 * A person with a valid session. `membership`: the role in the organization that the request names,
 * if there is one.
 */
export interface SignedIn {
  id: string;
  /** Name of the person, else the e-mail address, which has a mark when it is not proved. */
  name: string;
  email: string | null;
  isEmailProved: boolean;
  sessionId: string;
  membership: { organizationId: string; tenant: number; role: PersonRole } | null;
}
