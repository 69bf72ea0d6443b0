import type { RequestListener } from 'node:http';
import { isDatabaseUnavailable } from '@parley/db';
import { type HttpMetrics, createApp } from '@parley/service';
import { clerkDoor } from './providers/clerk';
import { kapsoMessagesDoor } from './providers/kapso-messages';
import { kapsoProjectDoor } from './providers/kapso-project';
import { polarDoor } from './providers/polar';
import { resendDoor } from './providers/resend';
import type { ReceiveDeps } from './receive';
import { webhookRoute } from './webhook-route';

export interface IngestDeps extends ReceiveDeps {
  checkResponses: boolean;
  metrics?: HttpMetrics;
  /** Those that may have signed, by provider; an empty list refuses every delivery, and Clerk's are then unsigned. */
  secrets: Record<'clerk' | 'kapso' | 'polar' | 'resend', readonly string[]>;
}

/** Five providers' doors. None takes a key: each delivery proves itself by its signature. */
export function createIngestApp(deps: IngestDeps): RequestListener {
  const { log, metrics, checkResponses, secrets } = deps;
  return createApp({
    log,
    metrics,
    checkResponses,
    checkKey: async () => null,
    isUnavailable: isDatabaseUnavailable,
    routes: [
      webhookRoute(deps, clerkDoor(secrets.clerk)),
      webhookRoute(deps, kapsoProjectDoor(secrets.kapso)),
      webhookRoute(deps, kapsoMessagesDoor(secrets.kapso)),
      webhookRoute(deps, polarDoor(secrets.polar)),
      webhookRoute(deps, resendDoor(secrets.resend)),
    ],
  });
}
