import type { z } from 'zod';
import type { PersonRole } from '../caller';
import type { Environment, Permission } from '../scope';

/** An error code with an example of its message. */
export type ErrorExample = readonly [code: string, error: string];

/** The error of endpoints whose concurrent requests are limited (docs/reference/limits.md#chat). */
export const tooManyTurns: ErrorExample = [
  'too_many_turns',
  'Too many requests of the organization are being answered at the same time',
];

/** One line of an area's table of endpoints: method, path, permission and limits. */
interface OperationRoute {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** In Express syntax: `/v1/data/:type`. */
  path: string;
  /**
   * The permission that the API key must have (`*` grants every one but `manage`). Null: the
   * endpoint takes no API key.
   */
  permission: Exclude<Permission, '*'> | null;
  /** A key with the permission `manage` may call it too. */
  orManage?: true;
  /**
   * The least role of a signed-in person who may call the endpoint, if need be by environment.
   * Absent: no person may.
   */
  people?: PersonRole | Readonly<Record<Environment, PersonRole>>;
  /**
   * A change without an entry in the audit log: a read mark, or a change whose events
   * name the caller.
   */
  isAudited?: false;
  /**
   * The token that an endpoint without an API key requires instead. `session`: the cookie of a
   * signed-in person. `visitor`: of the widget's session.
   */
  security?: 'executor' | 'callback' | 'session' | 'visitor';
  /** Refused when a page of another site sends it. Implied for every change with a session. */
  sameSite?: true;
  /** Goes beyond any role, so a key with a role is refused. */
  beyondRoles?: boolean;
  /** Counts towards the rate limits of the key and of its organization. */
  rateLimited?: boolean;
  /**
   * Changes nothing, so the handler may start before the rate limiter has decided. Implied for GET.
   */
  readOnly?: boolean;
  /**
   * Reads from the replica, if there is one: a list or a count that may be some seconds old. Never
   * what a change depends on.
   */
  replica?: true;
  /** Supports `Idempotency-Key`: the first response is stored and replayed. */
  idempotent?: boolean;
  /** Maximum size of the body, in bytes; 1 MiB by default. */
  bodyLimitBytes?: number;
}

/** The schemas and texts of one endpoint. */
interface OperationDetails {
  summary: string;
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Descriptions of the request headers that do not follow from other fields. */
  headers?: Record<string, string>;
  /**
   * The schema that the service parses the body with; absent if the handler reads the raw bytes.
   */
  body?: z.ZodType;
  /** The schema that the OpenAPI document shows instead of `body`, or for raw bytes. */
  documentedBody?: z.ZodType;
  /** JSON by default. */
  bodyType?: 'application/x-www-form-urlencoded';
  /** A request without a body counts as `{}`. */
  bodyOptional?: boolean;
  /** Status of a successful response; 200 by default. */
  status?: number;
  /** Errors of the protocol are those of JSON-RPC, with status 400. */
  isJsonRpc?: true;
  /** Other successful responses, by status. */
  otherResponses?: Readonly<
    Record<number, { description: string; type?: 'text/event-stream'; example?: string }>
  >;
  /** Body of a successful response; checked outside production. */
  response: z.ZodType;
  /** JSON by default. */
  responseType?: 'text/html' | 'text/javascript' | 'application/octet-stream' | 'text/event-stream';
  /** Served by the gateway itself, so the errors of a missing upstream service do not apply. */
  isOwn?: boolean;
  /** Examples of its errors, by status. */
  errors?: Readonly<Record<number, readonly ErrorExample[]>>;
  /** Fields of its error bodies besides those that every error has. */
  errorFields?: z.ZodObject;
  example?: { body?: object; response: unknown };
}

/**
 * One endpoint, as a service serves it (`serve(operationsOf.data, handlers)`) and as the OpenAPI
 * document describes it. Errors that follow from other fields (401 from a key, 413 from a body, 429
 * from a limit) are not listed in `errors`.
 */
export interface Operation extends OperationRoute, OperationDetails {
  /** Unique; the `operationId` of the OpenAPI document. */
  id: string;
  tag:
    | 'Chat'
    | 'Data'
    | 'Utilities'
    | 'Sync'
    | 'Conversations'
    | 'Executions'
    | 'Operations'
    | 'Settings'
    | 'People'
    | 'Widget'
    | 'Webhooks'
    | 'Tool executor'
    | 'Service';
}

/**
 * Makes unknown fields a compile error. A generic constraint alone accepts them: a misspelled limit
 * would have no effect.
 */
type NoFields<Field extends PropertyKey> = { [F in Field]: never };

type Limits = Omit<OperationRoute, 'method' | 'path' | 'permission'>;

const route =
  <M extends OperationRoute['method']>(method: M) =>
  <const P extends string, A extends OperationRoute['permission'], const L extends Limits = object>(
    path: P,
    permission: A,
    limits?: L & NoFields<Exclude<keyof L, keyof Limits>>,
  ) => ({ method, path, permission, ...(limits as L) });

export const get = route('get');
export const post = route('post');
export const patch = route('patch');
/** `delete` is a reserved word. */
export const remove = route('delete');

export const mebibyte = 1024 * 1024;

/**
 * Joins an area's table of endpoints with their details. Does not compile unless both
 * have the same ids.
 */
export function defineOperations<
  T extends Record<string, OperationRoute>,
  const D extends { [Id in keyof T]: OperationDetails },
>(
  tag: Operation['tag'],
  table: T,
  details: D &
    NoFields<Exclude<keyof D, keyof T>> & {
      [Id in keyof D]: NoFields<Exclude<keyof D[Id], keyof OperationDetails>>;
    },
) {
  const defined = Object.entries(table).map(([id, limits]) => [
    id,
    { id, tag, ...limits, ...details[id] },
  ]);
  return Object.fromEntries(defined) as {
    readonly [Id in keyof T & string]: { id: Id; tag: Operation['tag'] } & T[Id] & D[Id];
  };
}
