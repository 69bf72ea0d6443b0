import type { RequestListener } from 'node:http';
import { operationsOf } from '@parley/contracts';
import { isDatabaseUnavailable } from '@parley/db';
import { type BodyMemory, type HttpMetrics, createApp, serve } from '@parley/service';
import { clerkEndpoint } from './providers/clerk';
import { flowWebhook } from './providers/flow';
import { kapsoMessagesEndpoint } from './providers/kapso-messages';
import { kapsoProjectEndpoint } from './providers/kapso-project';
import { polarEndpoint } from './providers/polar';
import { resendEndpoint } from './providers/resend';
import type { ReceiveDeps } from './receive-delivery';
import { webhookHandler } from './webhook-handler';

export interface IngestDeps extends ReceiveDeps {
  checkResponses: boolean;
  metrics?: HttpMetrics;
  bodyMemory?: BodyMemory;
  /**
   * Accepted signing secrets by provider. With an empty list every delivery is refused, Clerk's
   * excepted (below).
   */
  secrets: Record<'clerk' | 'kapso' | 'polar' | 'resend', readonly string[]>;
  /** Whether Clerk's deliveries are accepted unsigned while it has no secret. Default: false. */
  acceptsUnsignedIdentity?: boolean;
}

/**
 * Serves the webhook endpoints of the five providers. They take no API key: deliveries are signed,
 * except for Flow's.
 */
export function createIngestApp(deps: IngestDeps): RequestListener {
  const {
    log,
    metrics,
    checkResponses,
    secrets,
    acceptsUnsignedIdentity: acceptsUnsigned = false,
  } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    bodyMemory: deps.bodyMemory,
    identify: async () => null,
    isUnavailable: isDatabaseUnavailable,
    routes: serve(operationsOf.webhooks, {
      clerkWebhook: webhookHandler(deps, clerkEndpoint(secrets.clerk, acceptsUnsigned)),
      kapsoProjectWebhook: webhookHandler(deps, kapsoProjectEndpoint(secrets.kapso)),
      kapsoMessagesWebhook: webhookHandler(deps, kapsoMessagesEndpoint(secrets.kapso)),
      flowWebhook: flowWebhook(deps),
      polarWebhook: webhookHandler(deps, polarEndpoint(secrets.polar)),
      resendWebhook: webhookHandler(deps, resendEndpoint(secrets.resend)),
    }),
  });
}
