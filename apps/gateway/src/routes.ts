export const upstreamNames = ['chat', 'data', 'webhook-ingest', 'tool-executor'] as const;
export type UpstreamName = (typeof upstreamNames)[number];

export interface GatewayRoute {
  /** A path belongs to it when it is this, or goes on below it after a slash. */
  prefix: string;
  upstream: UpstreamName;
  /** The largest body that the service behind accepts; it may be stricter for some of its paths. */
  limitBytes: number;
  /** Browsers may call it from any origin. */
  cors: boolean;
  /** Instead of 413 where the interface fixes the answer: the body of a 200 to a POST that is too large. */
  tooLargeReply?: object;
}

const mebibyte = 1024 * 1024;
const chat = { upstream: 'chat', limitBytes: 8 * mebibyte, cors: true } as const;
const data = { upstream: 'data', limitBytes: mebibyte, cors: true } as const;
const webhooks = { upstream: 'webhook-ingest', limitBytes: mebibyte, cors: false } as const;
/** A handler of 256 KiB and arguments of 1 MiB. */
const executor = { upstream: 'tool-executor', limitBytes: 4 * mebibyte, cors: false } as const;

/** Everything that may be reached from outside. What is not here is a 404, whatever the services serve to each other. */
const routes: readonly GatewayRoute[] = [
  { prefix: '/v1/chat', ...chat },
  { prefix: '/v1/agents', ...chat },
  { prefix: '/v1/routers', ...chat },
  { prefix: '/v1/compile-prompt', ...chat },
  { prefix: '/v1/run-tool', ...chat },
  { prefix: '/v1/fire-trigger', ...chat },
  { prefix: '/v1/mcp', ...chat },
  { prefix: '/v1/entity-types', ...data },
  { prefix: '/v1/data', ...data },
  { prefix: '/v1/sync', ...data },
  // Before its parent: the first that matches counts.
  { prefix: '/webhook/flow', ...webhooks, tooLargeReply: { received: true } },
  { prefix: '/webhook', ...webhooks },
  { prefix: '/execute', ...executor },
  { prefix: '/validate', ...executor },
];

/**
 * Spellings that a server behind us might read as another path: dot segments, an empty segment, an encoded slash,
 * backslash, dot or NUL, and anything that is not visible ASCII. No path that exists is spelled so.
 */
const ambiguous = /\/\.{1,2}(\/|$)|\/\/|%(2f|5c|2e|00)|[^\x21-\x7e]|[\\#]/i;

/** The route of a path as it came over the wire (nothing decoded); undefined when there is none. */
export function findRoute(path: string): GatewayRoute | undefined {
  if (ambiguous.test(path)) return undefined;
  return routes.find(({ prefix }) => path === prefix || (path.startsWith(prefix) && path[prefix.length] === '/'));
}
