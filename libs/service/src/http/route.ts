import { parse as parseQuery } from 'node:querystring';
import type { ApiKeyIdentity, Permission, Scope } from '@parley/contracts';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Logger } from '../process/logger';
import { missingPermission, unauthorized } from './errors';
import { type IdempotencyStore, withIdempotency } from './idempotency';
import { parseInput } from './parse';
import { readJson } from './read-json';
import { RawJson, sendJson } from './respond';

type Method = 'get' | 'post' | 'patch' | 'delete';
type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

/** What every handler knows of the request beside its parsed input. */
export interface RequestContext {
  requestId: string;
  log: Logger;
  /** Aborted when the client goes away before the answer. */
  signal: AbortSignal;
  request: Request;
  response: Response;
}

export interface KeyedContext extends RequestContext {
  key: ApiKeyIdentity;
  /** The tenant that the key fixes. */
  scope: Scope;
}

export interface RouteSpec<P, Q, B, A> {
  method: Method;
  path: string;
  /** Null for a route without a key; `*` wants any key that carries one of `sync` and `*`. */
  permission: Exclude<Permission, '*'> | null;
  params?: P;
  query?: Q;
  body?: B;
  /** 1 MiB unless told. */
  bodyLimitBytes?: number;
  /** Honours `Idempotency-Key`: the first answer is kept and replayed. */
  idempotent?: boolean;
  /** The status of success. */
  status?: number;
  /** What success looks like; checked outside production. */
  response: A;
}

type Input<P, Q, B> = { params: Parsed<P>; query: Parsed<Q>; body: Parsed<B> };

export interface Route {
  method: Method;
  path: string;
  spec: RouteSpec<z.ZodType | undefined, z.ZodType | undefined, z.ZodType | undefined, z.ZodType>;
  handle(request: Request, response: Response, deps: RouteDeps): Promise<void>;
}

export interface RouteDeps {
  checkKey: (token: string) => Promise<ApiKeyIdentity | null>;
  log: Logger;
  /** Answers are checked against their schemas. */
  checkResponses: boolean;
  idempotency?: IdempotencyStore;
  /** Runs between the key check and the body: the rate limit. Throws to refuse. */
  admit?: (key: ApiKeyIdentity) => Promise<void>;
}

const defaultBodyLimitBytes = 1024 * 1024;

/**
 * One endpoint: schema on top, handler below. The order is key, permission, admission, input, work, so that nothing
 * of a stranger's request is read. A handler returns the body of a success or throws an HttpError.
 */
export function route<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  A extends z.ZodType = z.ZodType,
>(
  spec: RouteSpec<P, Q, B, A> & { permission: null },
  handler: (input: Input<P, Q, B>, context: RequestContext) => Promise<unknown>,
): Route;
export function route<
  P extends z.ZodType | undefined = undefined,
  Q extends z.ZodType | undefined = undefined,
  B extends z.ZodType | undefined = undefined,
  A extends z.ZodType = z.ZodType,
>(spec: RouteSpec<P, Q, B, A>, handler: (input: Input<P, Q, B>, context: KeyedContext) => Promise<unknown>): Route;
export function route(
  spec: Route['spec'],
  handler: (input: Input<z.ZodType, z.ZodType, z.ZodType>, context: KeyedContext) => Promise<unknown>,
): Route {
  const status = spec.status ?? 200;
  return {
    method: spec.method,
    path: spec.path,
    spec,
    async handle(request, response, deps) {
      const keyed = spec.permission === null ? undefined : await authenticate(request, response, spec.permission, deps);
      const body = spec.body && (await readJson(request, spec.bodyLimitBytes ?? defaultBodyLimitBytes));
      const answer = async (): Promise<{ status: number; body: unknown }> => {
        const input = {
          params: spec.params && parseInput(spec.params, request.params, 'params'),
          query: spec.query && parseInput(spec.query, queryOf(request), 'query'),
          body: spec.body && parseInput(spec.body, body, 'body'),
        };
        const context = createContext(request, response, deps, keyed);
        return { status, body: await handler(input as never, context) };
      };
      const key = request.headers['idempotency-key'];
      const result =
        spec.idempotent && keyed && key !== undefined && deps.idempotency
          ? await withIdempotency(deps.idempotency, { key, keyed, request, body }, answer)
          : await answer();
      if (deps.checkResponses && result.status === status) assertAnswer(spec, result.body);
      sendJson(response, result.status, result.body);
    },
  };
}

async function authenticate(
  request: Request,
  response: Response,
  permission: Permission,
  deps: RouteDeps,
): Promise<ApiKeyIdentity> {
  const token = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
  const key = token === undefined ? null : await deps.checkKey(token);
  if (key === null) throw unauthorized();
  response.locals.key = key;
  if (!key.permissions.has('*') && !key.permissions.has(permission)) throw missingPermission(permission);
  await deps.admit?.(key);
  return key;
}

function createContext(request: Request, response: Response, deps: RouteDeps, key?: ApiKeyIdentity): KeyedContext {
  let controller: AbortController | undefined;
  return {
    requestId: response.locals.requestId as string,
    log: deps.log,
    request,
    response,
    key: key as ApiKeyIdentity,
    scope: { organizationId: key?.organizationId ?? '', environment: key?.environment ?? 'development' },
    // Made on demand: most handlers never look at it.
    get signal() {
      if (controller === undefined) {
        const made = (controller = new AbortController());
        response.once('close', () => response.writableFinished || made.abort());
      }
      return controller.signal;
    },
  };
}

function queryOf(request: Request): object {
  const at = request.url.indexOf('?');
  return at === -1 ? {} : { ...parseQuery(request.url.slice(at + 1)) };
}

/** A wrong answer is our bug: outside production it becomes a visible 500 instead of a silent break of the contract. */
function assertAnswer(spec: Route['spec'], body: unknown): void {
  const value = body instanceof RawJson ? JSON.parse(body.text) : JSON.parse(JSON.stringify(body));
  const result = spec.response.safeParse(value);
  if (!result.success) {
    throw new Error(`${spec.method} ${spec.path} answered against its schema: ${result.error.message}`);
  }
}
