import { createHmac } from 'node:crypto';

/**
 * The secret of a connection's webhook, as hex text whose bytes Kapso uses as the key. An
 * organization that reads it in its own account can sign deliveries for this connection only
 * (docs/adr/0031).
 */
export const webhookSecretOf = (deploymentSecret: string, connectionId: string): string =>
  createHmac('sha256', deploymentSecret).update(connectionId).digest('hex');

/**
 * Identifies a deployment's secret in the database without revealing it: the secret of a connection
 * id that is never used.
 */
export const fingerprintOf = (deploymentSecret: string): string =>
  webhookSecretOf(deploymentSecret, 'fingerprint').slice(0, 16);
