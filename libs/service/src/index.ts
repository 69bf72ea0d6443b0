export { type BodyMemory, createBodyMemory, largeBodyVariables } from './http/body-memory';
export {
  createClientAddress,
  keyLimitOf,
  keyLimitVariables,
  trustedProxies,
  trustedProxiesVariable,
} from './http/client-address';
export { createApp } from './http/create-app';
export {
  HttpError,
  badGateway,
  badRequest,
  conflict,
  forbidden,
  gatewayTimeout,
  methodNotAllowed,
  notFound,
  rateLimited,
  payloadTooLarge,
  serverError,
  unauthorized,
  unavailable,
  missingPermission,
} from './http/errors';
export { openAiError } from './http/openai-error';
export { onClosed } from './http/on-closed';
export { OpenStreams } from './http/open-streams';
export { readBody } from './http/read-json';
export { renderError } from './http/render-error';
export { requestIdOf } from './http/request-id';
export { RawJson, sendJson } from './http/send-json';
export {
  type FindSession,
  type NewCookie,
  noSessionCookie,
  readCookie,
  requireHttps,
  sessionCookieOf,
  sessionTokenOf,
  setCookie,
} from './http/session';
export { type CallerContext, type Exchange, type RequestContext } from './http/exchange';
export { type EventStreamLimits, type EventStreams, createEventStreams } from './http/event-stream';
export { type Route, route } from './http/route';
export { type Handler, serve } from './http/serve';
export { createAnswerPace } from './http/answer-pace';
export { queueRequests } from './http/queue-requests';
export { shareRequests } from './http/share-requests';
export { closeServer } from './process/close-server';
export {
  databaseVariables,
  listVariable,
  ConfigError,
  loadConfig,
  numberVariable,
  replicaVariables,
  serviceVariables,
  urlVariable,
} from './process/config';
export { type Logger, createLogger, silentLogger } from './process/logger';
export { type HttpMetrics, type Metrics, createMetrics } from './process/metrics';
export { type ServiceOptions, runService, startProcess } from './process/run-service';
export type { Tracer } from './tracing/operation';
export { nameRoute, openTracer, traced, tracedStatement, traceparent } from './tracing/tracing';
export { createWorkMetrics, modelPriceVariables, observeReplica } from './process/work-metrics';
