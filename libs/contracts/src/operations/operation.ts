import type { z } from 'zod';
import type { Permission } from '../scope';

/** A code and the text that goes with it, as an example. */
export type ErrorExample = readonly [code: string, error: string];

/**
 * One endpoint as clients see it: what a service serves (`route(operations.getEntity, handler)`) and what the OpenAPI
 * document says. What follows from the other fields (401 of a key, 413 of a body, 429 of a limit) is not listed again.
 */
export interface Operation {
  /** `operationId`. */
  id: string;
  tag: 'Chat' | 'Data' | 'Utilities' | 'Sync' | 'Webhooks' | 'Tool executor' | 'Service';
  summary: string;
  description?: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As Express writes it: `/v1/data/:type`. */
  path: string;
  /** Null for an endpoint without a key. */
  permission: Exclude<Permission, '*'> | null;
  /** For an endpoint without a key that is still not for everyone. */
  security?: 'executor';
  params?: z.ZodObject;
  query?: z.ZodObject;
  /** Headers that it looks at, beside those that follow from other fields. */
  headers?: Record<string, string>;
  body?: z.ZodType;
  /** JSON unless told. */
  bodyType?: 'application/x-www-form-urlencoded';
  /** No body is an empty object. */
  bodyOptional?: boolean;
  rateLimited?: boolean;
  readOnly?: boolean;
  idempotent?: boolean;
  status?: number;
  response: z.ZodType;
  /** JSON unless told. */
  responseType?: 'text/html';
  /** Served by the gateway itself, so no service behind it can be down. */
  isOwn?: boolean;
  /** By status. */
  errors?: Readonly<Record<number, readonly ErrorExample[]>>;
  /** Fields of its errors beside those of every error. */
  errorFields?: z.ZodObject;
  example?: { body?: object; response: unknown };
}
