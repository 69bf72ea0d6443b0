import type { IncomingMessage } from 'node:http';
import { parse as parseQuery } from 'node:querystring';
import {
  type Caller,
  type Operation,
  type Permission,
  type SignedIn,
  findUnstorable,
} from '@parley/contracts';
import type { z } from 'zod';
import type { Logger } from '../process/logger';
import {
  badRequest,
  keyHasRole,
  missingPermission,
  notForPerson,
  publishableKey,
  rateLimited,
  withoutKey,
} from './errors';
import { createAnswerPace } from './answer-pace';
import type { BodyMemory } from './body-memory';
import type { CallerContext, Exchange, RequestContext } from './exchange';
import { withIdempotency } from './idempotency';
import type { IdempotencyStore } from './idempotency-store';
import { onClosed } from './on-closed';
import { parseInput } from './parse-input';
import { readJson } from './read-json';
import { RawJson, jsonOf, sendText } from './send-json';
import {
  type FindSession,
  personIn,
  requireSameSite,
  requireSession,
  sessionTokenOf,
} from './session';
import { createUnreadAnswers } from './unread-answers';

export interface RouteSpec extends Omit<Operation, 'id' | 'tag' | 'summary'> {
  /**
   * Checks the token of a route that requires no API key. Runs before the request is read, and
   * throws to refuse it.
   */
  guard?: (exchange: Exchange) => void | Promise<void>;
}

type Parsed<S, Name extends string> =
  S extends Record<Name, infer Z extends z.ZodType> ? z.output<Z> : undefined;
type Input<S> = { params: Parsed<S, 'params'>; query: Parsed<S, 'query'>; body: Parsed<S, 'body'> };

/** Returns the body of a successful answer, or throws an HttpError. */
export type HandlerOf<S extends RouteSpec, A = unknown> = (
  input: Input<S>,
  context: S extends { security: 'session' }
    ? RequestContext & { readonly person: SignedIn }
    : S extends { security: 'visitor' }
      ? CallerContext
      : S['permission'] extends null
        ? RequestContext
        : CallerContext,
) => Promise<A>;

export interface Route {
  method: RouteSpec['method'];
  path: string;
  handle(exchange: Exchange, params: Record<string, string>, deps: RouteDeps): Promise<void>;
}

interface CallerLookUps {
  /** The caller of a request; null when it has no valid API key. */
  identify: (request: IncomingMessage) => Promise<Caller | null>;
  /** Without it, sessions of people are not accepted. */
  findSession?: FindSession;
}

export interface RouteDeps extends CallerLookUps {
  /** The look-ups of callers that are checked again. Default: those of their requests. */
  again?: CallerLookUps;
  log: Logger;
  /** Whether answers are checked against their schemas. */
  checkResponses: boolean;
  idempotency?: IdempotencyStore;
  limiter?: RequestLimiter;
  /** Without it, large bodies are read at once, however many there are. */
  bodyMemory?: BodyMemory | undefined;
}

/** Whose requests are counted: those of a key or person, and those of its organization. */
type Limited = Pick<Caller, 'type' | 'id' | 'organizationId'>;

/** The rate limit. Both return 0, or the Unix milliseconds at which the caller may try again. */
export interface RequestLimiter {
  /** The end of a wait that is known without a request to Redis. */
  blockedUntil(caller: Limited): number;
  /** Counts the request or refuses it. Never rejects. */
  admit(caller: Limited): number | Promise<number>;
}

interface Answer {
  status: number;
  body: unknown;
}

const unread = createUnreadAnswers();
const pace = createAnswerPace();

const defaultBodyLimitBytes = 1024 * 1024;

/** One endpoint. Checks the caller, the permission, the rate limit and the input, in this order. */
export function route<const S extends RouteSpec>(spec: S, handler: HandlerOf<S>): Route {
  const status = spec.status ?? 200;
  const readOnly = spec.readOnly ?? spec.method === 'get';

  const limitBytes = spec.bodyLimitBytes ?? defaultBodyLimitBytes;
  // A tool call of a turn belongs to a request that has memory already, and would wait for it.
  const usesMemory = spec.method !== 'get' && spec.security !== 'callback';

  async function work(...args: Parameters<typeof readAndAnswer>): Promise<Answer> {
    const [exchange, , { bodyMemory }] = args;
    if (!usesMemory || bodyMemory === undefined) return readAndAnswer(...args);
    const organization = String(exchange.knownCaller?.tenant ?? '');
    const signal = () => exchange.signal;
    const release = await bodyMemory.take(exchange.request, { organization, limitBytes, signal });
    try {
      return await readAndAnswer(...args);
    } finally {
      release?.();
    }
  }

  async function readAndAnswer(
    exchange: Exchange,
    params: Record<string, string>,
    deps: RouteDeps,
    admission?: Promise<number>,
  ): Promise<Answer> {
    const { request } = exchange;
    const body = spec.body && (await readJson(request, limitBytes));
    // The body is read while the limiter decides. A change starts only after the request
    // has been admitted.
    if (admission !== undefined && !readOnly && (await admission) > 0) return refused;
    const answer = async (): Promise<Answer> => {
      const input = {
        params: spec.params && parseInput(spec.params, params, 'params'),
        query: spec.query && parseInput(spec.query, queryOf(request.url!), 'query'),
        body:
          spec.body &&
          parseInput(spec.body, spec.bodyOptional && body === undefined ? {} : body, 'body'),
      };
      if (readOnly) await awaitPace(exchange);
      return { status, body: await handler(input as never, exchange as never) };
    };
    const key = spec.idempotent ? request.headers['idempotency-key'] : undefined;
    if (key === undefined || deps.idempotency === undefined) return answer();
    return withIdempotency(deps.idempotency, { key, exchange, body }, answer);
  }

  return {
    method: spec.method,
    path: spec.path,
    async handle(exchange, params, deps) {
      refusePublishableKey(exchange.request);
      await spec.guard?.(exchange);
      if (spec.sameSite) requireSameSite(exchange.request);
      if (spec.security === 'session')
        exchange.knownPerson = await requireSession(
          exchange.request,
          sessionTokenOf(exchange.request),
          deps.findSession,
        );
      const caller =
        spec.permission === null
          ? undefined
          : await authenticate(exchange, spec.permission, spec, deps);
      if (spec.permission !== null)
        exchange.checkAgain = async () => {
          await authenticate(exchange, spec.permission!, spec, deps.again ?? deps);
        };
      const limited = spec.rateLimited ? (caller ?? onlyPerson(exchange)) : undefined;
      const { limiter } = deps;
      if (limiter === undefined || limited === undefined)
        return send(exchange, await work(exchange, params, deps), deps);
      const blockedUntilMs = limiter.blockedUntil(limited);
      if (blockedUntilMs > 0) throw rateLimited(blockedUntilMs);

      // A read sends its query before the limiter is asked, because the query takes longest. A
      // change waits for the limiter.
      const admit = () => limiter.admit(limited);
      const admission = readOnly ? afterThisTurn(admit) : Promise.resolve(admit());
      const working = work(exchange, params, deps, admission);
      // A failure is thrown below, after the decision of the limiter.
      working.catch(() => {});
      const retryAtMs = await admission;
      if (retryAtMs > 0) throw rateLimited(retryAtMs);
      send(exchange, await working, deps);
    },
  };

  function send(exchange: Exchange, result: Answer, deps: RouteDeps): void {
    const { response, knownCaller } = exchange;
    // A handler may have sent the answer itself, such as MCP's 202 without a body, or a stream.
    if (response.headersSent) return;
    if (deps.checkResponses && result.status === status) assertAnswer(spec, result.body);
    const json = jsonOf(result.body);
    // A change has been made, and is answered.
    if (readOnly && knownCaller !== undefined) {
      unread.hold(response, String(knownCaller.tenant), json.bytes);
      pace.answered(paceKey(exchange, knownCaller), json.bytes, exchange.reservedBytes);
      exchange.reservedBytes = 0;
    }
    sendText(response, result.status, json);
  }
}

/** Large answers of an endpoint are paced for each organization. */
const paceKey = ({ route: path }: Exchange, { tenant }: Caller): string => `${tenant} ${path}`;

/**
 * Waits for the large answers before. What is reserved for this one is given back
 * when it is not sent.
 */
async function awaitPace(exchange: Exchange): Promise<void> {
  const { knownCaller, response } = exchange;
  if (knownCaller === undefined) return;
  const key = paceKey(exchange, knownCaller);
  exchange.reservedBytes = await pace.reserve(key, () => exchange.signal);
  if (exchange.reservedBytes === 0) return;
  onClosed(response, () => pace.answered(key, 0, exchange.reservedBytes));
  // The rate limit has refused it meanwhile.
  if (response.writableEnded) throw rateLimited(Date.now());
}

/** Publishable keys are no bearer tokens: the widget's paths take them in the address. */
function refusePublishableKey({ headers: { authorization } }: IncomingMessage): void {
  if (authorization !== undefined && /^Bearer +pk_(dev|prod)_/i.test(authorization))
    throw publishableKey();
}

/** A request with a session that names no organization counts for the person alone. */
const onlyPerson = ({ knownPerson }: Exchange): Limited | undefined =>
  knownPerson && { type: 'person', id: knownPerson.id, organizationId: knownPerson.id };

/** Calls `ask` after the I/O of the current turn of the event loop has been started. */
const afterThisTurn = (ask: () => number | Promise<number>): Promise<number> =>
  new Promise((resolve) => setImmediate(() => resolve(ask())));

/** Never sent: `handle` throws for the same decision. */
const refused: Answer = { status: 429, body: null };

async function authenticate(
  exchange: Exchange,
  permission: Permission,
  { beyondRoles, people, orManage }: RouteSpec,
  deps: CallerLookUps,
): Promise<Caller> {
  const caller = await callerOf(exchange.request, deps);
  exchange.knownCaller = caller;
  if (caller.type === 'person') {
    const least = typeof people === 'object' ? people[caller.environment] : people;
    if (least !== 'member' && least !== caller.role) throw notForPerson(least);
    return caller;
  }
  const isGranted =
    caller.permissions.has(permission) ||
    (permission !== 'manage' && caller.permissions.has('*')) ||
    (orManage === true && caller.permissions.has('manage'));
  if (!isGranted) throw missingPermission(permission);
  if ((beyondRoles || permission === 'manage') && caller.role !== null) throw keyHasRole();
  return caller;
}

/** The API key of a request, else its session: a request with both is one of the key. */
async function callerOf(request: IncomingMessage, deps: CallerLookUps): Promise<Caller> {
  const token = sessionTokenOf(request);
  if (token !== undefined && deps.findSession !== undefined)
    return personIn(request, await requireSession(request, token, deps.findSession));
  const caller = await deps.identify(request);
  if (caller === null) throw withoutKey(request.headers.authorization);
  return caller;
}

function queryOf(url: string): object {
  const at = url.indexOf('?');
  if (at === -1) return {};
  const query = { ...parseQuery(url.slice(at + 1)) };
  const problem = findUnstorable(query);
  if (problem !== null)
    throw badRequest(`${problem.path} ${problem.message}`, [problem], 'invalid_query');
  return query;
}

/**
 * Outside production, an answer that does not match its schema becomes a 500, so
 * that tests find it.
 */
function assertAnswer(spec: RouteSpec, body: unknown): void {
  const value = body instanceof RawJson ? JSON.parse(body.text) : JSON.parse(JSON.stringify(body));
  const result = spec.response.safeParse(value);
  if (!result.success) {
    throw new Error(
      `The answer of ${spec.method} ${spec.path} does not match its schema: ${result.error.message}`,
    );
  }
}
