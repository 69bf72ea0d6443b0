export const upstreamNames = ['chat', 'data', 'webhook-ingest', 'tool-executor', 'manage'] as const;
export type UpstreamName = (typeof upstreamNames)[number];

export interface GatewayRoute {
  /** The route matches this path and every path below it. */
  prefix: string;
  /** The route matches only paths that end with this. */
  suffix?: string;
  /**
   * The route matches only GET and HEAD, of the prefix itself and of paths with at most this
   * many parts below it.
   */
  readsBelow?: number;
  upstream: UpstreamName;
  /** Maximum size of a body. The upstream may have a lower limit for some of its paths. */
  limitBytes: number;
  /**
   * Browsers may call the route from any origin (docs/reference/README.md#cross-origin-requests).
   */
  cors: boolean;
  /** The service itself answers browsers by origin (docs/adr/0060). */
  corsOfService?: boolean;
  /**
   * Body of the 200 that answers every POST, also when it is too large or the upstream
   * does not answer.
   */
  fixedReply?: object;
  /**
   * Answers of paths that end with `/stream`, and those that a client accepts as such, are
   * streams of events.
   */
  hasStreams?: boolean;
  /** Maximum time for the answer, if it is less than the upstream's. */
  deadlineMs?: number;
  /** Time for which a client can ask the service to wait, added to its deadline. */
  waitMs?: number;
}

const mebibyte = 1024 * 1024;
const chat = { upstream: 'chat', limitBytes: 8 * mebibyte, cors: true } as const;
const data = { upstream: 'data', limitBytes: mebibyte, cors: true } as const;
const webhooks = { upstream: 'webhook-ingest', limitBytes: mebibyte, cors: false } as const;
const manage = { upstream: 'manage', limitBytes: mebibyte, cors: false } as const;
/** Enough for a handler of 256 KiB, arguments and context of 1 MiB each, and secrets. */
const executor = { upstream: 'tool-executor', limitBytes: 4 * mebibyte, cors: false } as const;

/**
 * All public paths. Any other path is answered with 404, also when a service has it
 * for other services.
 */
const routes: readonly GatewayRoute[] = [
  { prefix: '/v1/chat', ...chat },
  // Before the prefixes of chat: the first match is used.
  { prefix: '/v1/agents', readsBelow: 1, ...manage },
  { prefix: '/v1/routers', readsBelow: 0, ...manage },
  { prefix: '/v1/agents', ...chat },
  { prefix: '/v1/routers', ...chat },
  { prefix: '/v1/compile-prompt', ...chat },
  { prefix: '/v1/run-tool', ...chat },
  { prefix: '/v1/fire-trigger', ...chat },
  { prefix: '/v1/mcp', ...chat },
  { prefix: '/v1/entity-types', ...data },
  // Before /v1/data: the first match is used.
  { prefix: '/v1/data', suffix: '/bulk', ...data, limitBytes: 8 * mebibyte },
  { prefix: '/v1/data', ...data },
  { prefix: '/v1/sync', ...data, limitBytes: 16 * mebibyte },
  // A reply may have a file of 10 MiB in Base64.
  { prefix: '/v1/threads', hasStreams: true, ...manage, limitBytes: 14 * mebibyte },
  { prefix: '/v1/thread-counts', ...manage },
  { prefix: '/v1/webhook-deliveries', ...manage },
  { prefix: '/v1/webhook-replays', ...manage },
  { prefix: '/v1/triggers', ...manage },
  { prefix: '/v1/trigger-runs', ...manage },
  { prefix: '/v1/messages', ...manage },
  { prefix: '/v1/emails', ...manage },
  { prefix: '/v1/contacts', ...manage },
  { prefix: '/v1/channels', ...manage },
  { prefix: '/v1/payments', ...manage },
  { prefix: '/v1/credits', ...manage },
  { prefix: '/v1/api-keys', ...manage },
  { prefix: '/v1/publishable-keys', ...manage },
  { prefix: '/v1/widget', hasStreams: true, corsOfService: true, ...manage },
  { prefix: '/v1/integrations', ...manage },
  { prefix: '/v1/events', hasStreams: true, ...manage },
  { prefix: '/v1/organization', ...manage },
  { prefix: '/v1/audit-log', ...manage },
  { prefix: '/v1/executions', hasStreams: true, waitMs: 30_000, ...manage },
  // A turn may take two minutes.
  { prefix: '/openai', hasStreams: true, waitMs: 110_000, ...manage },
  { prefix: '/v1/tools', ...manage },
  { prefix: '/v1/tool-secrets', ...manage },
  { prefix: '/v1/roles', ...manage },
  { prefix: '/v1/search-indexes', ...manage },
  { prefix: '/v1/statistics', ...manage },
  { prefix: '/v1/health-report', ...manage },
  { prefix: '/v1/sign-in', ...manage },
  { prefix: '/v1/sessions', ...manage },
  { prefix: '/v1/me', ...manage },
  { prefix: '/v1/members', ...manage },
  { prefix: '/v1/invitations', ...manage },
  { prefix: '/webhook/flow', ...webhooks, fixedReply: { received: true }, deadlineMs: 8_000 },
  { prefix: '/webhook', ...webhooks },
  { prefix: '/execute', ...executor },
  { prefix: '/validate', ...executor },
];

/**
 * Paths that an upstream could normalize to another path: dot segments, an empty segment, an
 * encoded slash, backslash, dot or NUL, and characters outside visible ASCII. No existing
 * path contains these.
 */
const ambiguous = /\/\.{1,2}(\/|$)|\/\/|%(2f|5c|2e|00)|[^\x21-\x7e]|[\\#]/i;

/** The route of a path as received, without decoding; undefined when there is none. */
export function findRoute(path: string, method: string): GatewayRoute | undefined {
  if (ambiguous.test(path)) return undefined;
  return routes.find(
    ({ prefix, suffix = '', readsBelow }) =>
      (path === prefix || (path.startsWith(prefix) && path[prefix.length] === '/')) &&
      path.endsWith(suffix) &&
      (readsBelow === undefined ||
        (isRead(method) && partsOf(path.slice(prefix.length)) <= readsBelow)),
  );
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD';
const partsOf = (path: string): number => path.split('/').filter((part) => part !== '').length;
