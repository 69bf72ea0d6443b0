import type { RequestListener } from 'node:http';
import { operationsOf } from '@parley/contracts';
import { isDatabaseUnavailable } from '@parley/db';
import { type HttpMetrics, createApp, serve } from '@parley/service';
import { clerkDoor } from './providers/clerk';
import { flowWebhook } from './providers/flow';
import { kapsoMessagesDoor } from './providers/kapso-messages';
import { kapsoProjectDoor } from './providers/kapso-project';
import { polarDoor } from './providers/polar';
import { resendDoor } from './providers/resend';
import type { ReceiveDeps } from './receive';
import { webhook } from './webhook-route';

export interface IngestDeps extends ReceiveDeps {
  checkResponses: boolean;
  metrics?: HttpMetrics;
  /** Those that may have signed, by provider; an empty list refuses every delivery. */
  secrets: Record<'clerk' | 'kapso' | 'polar' | 'resend', readonly string[]>;
  /** Whether Clerk's deliveries are accepted unsigned when there is no secret for them. Default: no. */
  acceptsUnsignedIdentity?: boolean;
}

/** Five providers' doors. None takes a key: a delivery proves itself by its signature, and Flow's proves nothing. */
export function createIngestApp(deps: IngestDeps): RequestListener {
  const { log, metrics, checkResponses, secrets, acceptsUnsignedIdentity: acceptsUnsigned = false } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    identify: async () => null,
    isUnavailable: isDatabaseUnavailable,
    routes: serve(operationsOf.webhooks, {
      clerkWebhook: webhook(deps, clerkDoor(secrets.clerk, { acceptsUnsigned })),
      kapsoProjectWebhook: webhook(deps, kapsoProjectDoor(secrets.kapso)),
      kapsoMessagesWebhook: webhook(deps, kapsoMessagesDoor(secrets.kapso)),
      flowWebhook: flowWebhook(deps),
      polarWebhook: webhook(deps, polarDoor(secrets.polar)),
      resendWebhook: webhook(deps, resendDoor(secrets.resend)),
    }),
  });
}
