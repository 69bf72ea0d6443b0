import type { IncomingMessage, RequestListener } from 'node:http';
import { operationsOf } from '@parley/contracts';
import { type Db, type SecretBox, createIdempotencyStore, isDatabaseUnavailable } from '@parley/db';
import {
  type KeyLimit,
  createFindWebsite,
  createIdentify,
  createLookUpAgain,
  createSessionCheck,
  createTokenLookUp,
} from '@parley/identity';
import type { ExecutionBells, ExecutionChunks, Queues, RateLimiter } from '@parley/redis';
import {
  type BodyMemory,
  HttpError,
  type HttpMetrics,
  type Logger,
  type EventStreamLimits,
  createApp,
  createEventStreams,
  openAiError,
  serve,
} from '@parley/service';
import type { Payments } from '@parley/payments';
import type { IntegrationTestDeps } from './test-integration';
import { createEventHandlers } from './routes/events';
import type { Oidc } from './oidc';
import type { SealedCookies } from './sealed-cookies';
import { readFromReplica } from './read-from-replica';
import { createOidcHandlers } from './routes/oidc';
import { createIdentityConfirmationHandlers } from './routes/identity-confirmation';
import { createOrganizationHandlers } from './routes/organization';
import { createApiKeyHandlers } from './routes/api-keys';
import { createPublishableKeyHandlers } from './routes/publishable-keys';
import { createWidgetHandlers } from './routes/widget';
import {
  type VisitorDeps,
  answerPreflight,
  createVisitorGuard,
  isVisitorPreflight,
} from './visitors';
import { createAuditLogHandlers } from './routes/audit-log';
import { type ChannelRouteDeps, createChannelHandlers } from './routes/channels';
import { createDefinitionHandlers } from './routes/definitions';
import { createExecutionHandlers } from './routes/executions';
import { createStartExecutionHandlers } from './routes/start-execution';
import { createSendExecution, createStreamExecutionHandlers } from './routes/stream-execution';
import { createExecutionStreams } from './execution-streams';
import { createOpenAiRoutes } from './openai/routes';
import { type Channels } from '@parley/channels';
import { createIntegrationHandlers } from './routes/integrations';
import { createMessageHandlers } from './routes/messages';
import { createPaymentHandlers } from './routes/payments';
import { createThreadHandlers } from './routes/threads';
import { createToolSecretHandlers } from './routes/tool-secrets';
import { createTriggerHandlers } from './routes/triggers';
import { createWebhookDeliveryHandlers } from './routes/webhook-deliveries';
import { createStatisticsHandlers } from './routes/statistics';
import { createHealthReportHandlers } from './routes/health-report';
import { type LinkDeps, createMemberHandlers } from './routes/members';
import { createEmailAddressHandlers } from './routes/email-addresses';
import { type PasswordResetDeps, createPasswordResetHandlers } from './routes/password-resets';
import { createSessionHandlers } from './routes/sessions';
import type { AdmitSignIn } from './sign-in-limit';

export interface ManageDeps extends IntegrationTestDeps, Pick<ChannelRouteDeps, 'connect'> {
  db: Db;
  /** Where operations with the word `replica` read. Default: `db`. */
  reads?: Db;
  /** Encrypts stored secrets. */
  box: SecretBox;
  queues: Queues;
  channels: Pick<
    Channels,
    'contactOf' | 'mailOfEnvironment' | 'mailOfServer' | 'mailToPerson' | 'templates'
  >;
  payments: Pick<Payments, 'getStatus' | 'reconcile'>;
  reconcileLimitMs?: number;
  /**
   * Limits of streams of events; `perCaller` and `perOrganization` are open streams
   * of this process.
   */
  streamLimits: EventStreamLimits;
  /** The same of streams of executions and of waits for their end. */
  executionStreamLimits: EventStreamLimits;
  executionChunks: ExecutionChunks;
  executionBells: ExecutionBells;
  /** Public address of the gateway. */
  publicUrl: string;
  log: Logger;
  /** Whether responses are checked against their schemas; not in production. */
  checkResponses: boolean;
  metrics?: HttpMetrics;
  bodyMemory?: BodyMemory;
  /** Limits attempts to sign in. */
  admitSignIn: AdmitSignIn;
  /** Limits requests for links that set a password. */
  admitReset: AdmitSignIn;
  admitVisitor: VisitorDeps['admitVisitor'];
  /** Null when no OpenID provider is configured. */
  oidc: Oidc | null;
  sealedCookies: SealedCookies;
  limiter?: RateLimiter;
  keyLimit?: KeyLimit<IncomingMessage>;
}

/** A visitor has a page open in a few tabs. */
const streamsPerVisitor = 5;

const operations = { ...operationsOf.manage, ...operationsOf.toolSecrets, ...operationsOf.widget };

/** The management service (docs/adr/0053). */
export function createManageApp(deps: ManageDeps): RequestListener {
  const { db, log, metrics, checkResponses, limiter } = deps;
  const streams = createEventStreams(deps.streamLimits);
  const executionStreams = createExecutionStreams({
    db,
    chunks: deps.executionChunks,
    bells: deps.executionBells,
  });
  const { executionStreamLimits } = deps;
  const waits = { executionStreams, streams: createEventStreams(executionStreamLimits) };
  const sendExecution = createSendExecution({ ...waits, log });
  const sendToVisitor = createSendExecution({
    executionStreams,
    log,
    streams: createEventStreams({ ...executionStreamLimits, perCaller: streamsPerVisitor }),
  });
  const lookUpLink = createTokenLookUp('links', deps.keyLimit);
  const findSession = createSessionCheck(db, { limit: deps.keyLimit });
  const visitors = { ...deps, findWebsite: createFindWebsite(db, deps.box, deps.keyLimit) };
  const shared = {
    log,
    metrics,
    checkResponses,
    limiter,
    bodyMemory: deps.bodyMemory,
    identify: createIdentify(db, deps.keyLimit),
    findSession,
    again: createLookUpAgain(db),
    idempotency: createIdempotencyStore(db),
    isUnavailable: isDatabaseUnavailable,
  };
  const openAi = createApp({
    ...shared,
    shapeError: openAiError,
    routes: createOpenAiRoutes({ ...deps, ...waits }),
  });
  const handlersOf = (of: ManageDeps) => ({
    ...handlersOfPeople({ ...of, lookUpLink, findSession }),
    ...createThreadHandlers(of),
    ...createMessageHandlers(of),
    ...createChannelHandlers(of),
    ...createWebhookDeliveryHandlers(of),
    ...createTriggerHandlers(of),
    ...createPaymentHandlers(of),
    ...createApiKeyHandlers(of),
    ...createPublishableKeyHandlers(of),
    ...createWidgetHandlers(visitors, sendToVisitor),
    ...createIntegrationHandlers(of),
    ...createEventHandlers({ db: of.db, log, streams }),
    ...createOrganizationHandlers(of),
    ...createAuditLogHandlers(of),
    ...createDefinitionHandlers(of),
    ...createExecutionHandlers(of, waits),
    ...createStartExecutionHandlers(of, sendExecution, waits),
    ...createStreamExecutionHandlers(of.db, sendExecution),
    ...createStatisticsHandlers(of),
    ...createHealthReportHandlers(of),
    ...createToolSecretHandlers(of),
  });
  const app = createApp({
    ...shared,
    routes: serve(operations, readFromReplica(operations, handlersOf, deps), {
      visitor: createVisitorGuard(visitors),
    }),
  });
  return (request, response) => {
    if (request.url!.startsWith('/openai/')) return openAi(request, response);
    if (!isVisitorPreflight(request)) return app(request, response);
    answerPreflight(visitors, { request, response }).catch((error: unknown) => {
      if (!(error instanceof HttpError)) log.warn({ err: error }, 'a preflight was not answered');
      response.writeHead(error instanceof HttpError ? error.status : 503).end();
    });
  };
}

const handlersOfPeople = (of: PasswordResetDeps & LinkDeps) => ({
  ...createSessionHandlers(of),
  ...createPasswordResetHandlers(of),
  ...createEmailAddressHandlers(of),
  ...createOidcHandlers(of),
  ...createIdentityConfirmationHandlers(of),
  ...createMemberHandlers(of),
});
