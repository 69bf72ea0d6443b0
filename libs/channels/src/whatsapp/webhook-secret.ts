import { createHmac } from 'node:crypto';

/**
 * What the webhook of a connection is signed with: an organization that reads it in its own account can sign deliveries for
 * this connection, and for no other (docs/adr/0031). In hex, since the intermediary uses the text as the key.
 */
export const webhookSecretOf = (deploymentSecret: string, connectionId: string): string =>
  createHmac('sha256', deploymentSecret).update(connectionId).digest('hex');

/** Names a deployment's secret in the database without containing it. No connection has the id `fingerprint`. */
export const fingerprintOf = (deploymentSecret: string): string =>
  webhookSecretOf(deploymentSecret, 'fingerprint').slice(0, 16);
