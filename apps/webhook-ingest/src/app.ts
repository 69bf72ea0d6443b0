import type { RequestListener } from 'node:http';
import { isDatabaseUnavailable } from '@parley/db';
import { type HttpMetrics, createApp } from '@parley/service';
import { clerkDoor } from './providers/clerk';
import { flowRoute } from './providers/flow';
import { kapsoMessagesDoor } from './providers/kapso-messages';
import { kapsoProjectDoor } from './providers/kapso-project';
import { polarDoor } from './providers/polar';
import { resendDoor } from './providers/resend';
import type { ReceiveDeps } from './receive';
import { webhookRoute } from './webhook-route';

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
    checkKey: async () => null,
    isUnavailable: isDatabaseUnavailable,
    routes: [
      webhookRoute(deps, clerkDoor(secrets.clerk, { acceptsUnsigned })),
      webhookRoute(deps, kapsoProjectDoor(secrets.kapso)),
      webhookRoute(deps, kapsoMessagesDoor(secrets.kapso)),
      flowRoute(deps),
      webhookRoute(deps, polarDoor(secrets.polar)),
      webhookRoute(deps, resendDoor(secrets.resend)),
    ],
  });
}
