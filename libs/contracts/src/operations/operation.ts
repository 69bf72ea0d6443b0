import type { z } from 'zod';
import type { Permission } from '../scope';

/** A code and the text that goes with it, as an example. */
export type ErrorExample = readonly [code: string, error: string];

/** One line of an area's table of contents: where an endpoint is, who may call it and how much. */
interface OperationLine {
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As Express writes it: `/v1/data/:type`. */
  path: string;
  /** Null for an endpoint without a key; `*` always grants. */
  permission: Exclude<Permission, '*'> | null;
  /** The token that an endpoint without a key asks for instead. */
  security?: 'executor' | 'callback';
  /** Counts against the limits of the key and its organization. */
  rateLimited?: boolean;
  /** Changes nothing, so its work may start while the rate limit is still deciding. Every GET is. */
  readOnly?: boolean;
  /** Honours `Idempotency-Key`: the first answer is kept and replayed. */
  idempotent?: boolean;
  /** The largest body, in bytes; 1 MiB by default. */
  bodyLimitBytes?: number;
}

/** The schemas and texts of one endpoint. */
interface OperationDetails {
  summary: string;
  description?: string;
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that it looks at, beside those that follow from other fields. */
  headers?: Record<string, string>;
  /** What the service parses; absent where the handler reads the bytes itself. */
  body?: z.ZodType;
  /** What the document shows instead of `body`, or for bytes that the handler reads itself. */
  documentedBody?: z.ZodType;
  /** JSON by default. */
  bodyType?: 'application/x-www-form-urlencoded';
  /** No body is an empty object. */
  bodyOptional?: boolean;
  /** The status of success. */
  status?: number;
  /** What success looks like; checked outside production. */
  response: z.ZodType;
  /** JSON by default. */
  responseType?: 'text/html';
  /** Served by the gateway itself, so no service behind it can be down. */
  isOwn?: boolean;
  /** By status. */
  errors?: Readonly<Record<number, readonly ErrorExample[]>>;
  /** Fields of its errors beside those of every error. */
  errorFields?: z.ZodObject;
  example?: { body?: object; response: unknown };
}

/**
 * One endpoint: what a service serves (`serve(operationsOf.data, handlers)`) and what the OpenAPI document says. What
 * follows from the other fields (401 of a key, 413 of a body, 429 of a limit) is not listed again.
 */
export interface Operation extends OperationLine, OperationDetails {
  /** `operationId`. */
  id: string;
  tag: 'Chat' | 'Data' | 'Utilities' | 'Sync' | 'Webhooks' | 'Tool executor' | 'Service';
}

/** Refuses fields that a generic constraint lets pass: a misspelt limit would be no limit. */
type No<Field extends PropertyKey> = { [F in Field]: never };

type Limits = Omit<OperationLine, 'method' | 'path' | 'permission'>;

const line =
  <M extends OperationLine['method']>(method: M) =>
  <const P extends string, A extends OperationLine['permission'], const L extends Limits = object>(
    path: P,
    permission: A,
    limits?: L & No<Exclude<keyof L, keyof Limits>>,
  ) => ({ method, path, permission, ...(limits as L) });

export const get = line('get');
export const post = line('post');
export const patch = line('patch');
/** `delete` is a reserved word. */
export const remove = line('delete');

export const mebibyte = 1024 * 1024;

/** Joins an area's table of contents with the details of its operations. Both have the same ids, else it does not compile. */
export function defineOperations<
  T extends Record<string, OperationLine>,
  const D extends { [Id in keyof T]: OperationDetails },
>(
  tag: Operation['tag'],
  table: T,
  details: D & No<Exclude<keyof D, keyof T>> & { [Id in keyof D]: No<Exclude<keyof D[Id], keyof OperationDetails>> },
) {
  const defined = Object.entries(table).map(([id, limits]) => [id, { id, tag, ...limits, ...details[id] }]);
  return Object.fromEntries(defined) as {
    readonly [Id in keyof T & string]: { id: Id; tag: Operation['tag'] } & T[Id] & D[Id];
  };
}
