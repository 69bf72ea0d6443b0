import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { bearerTokenOf } from '@parley/contracts';
import { createClientAddress, sessionTokenOf, trustedProxies } from '@parley/service';
import { forwardedFor } from './headers';
import type { UpstreamName } from './routes';

/**
 * Returns the function that finds the network address of a request's client, as the services find
 * it behind the gateway: behind proxies that are not in TRUSTED_PROXIES, all clients have the
 * address of the proxy.
 */
export function createNetworkAddress(
  proxies: readonly string[],
): (request: IncomingMessage) => string {
  const isTrusted = trustedProxies(proxies);
  const addressOf = createClientAddress(proxies);
  /** Addresses of connections without a proxy, which have one client each. */
  const known = new WeakMap<Socket, string>();
  return (request) => {
    const { socket } = request;
    const ofConnection = known.get(socket);
    if (ofConnection !== undefined) return ofConnection;
    const isPeerTrusted = isTrusted(socket.remoteAddress ?? '');
    const address = addressOf({
      headers: { 'x-forwarded-for': forwardedFor(request, isPeerTrusted) },
      // The services see the gateway as their peer.
      socket: { remoteAddress: '127.0.0.1' },
    });
    if (!isPeerTrusted) known.set(socket, address);
    return address;
  };
}

/**
 * Whose share of the connections to a service a request uses: that of its key or session,
 * which the service checks at once, or of its address. Deliveries of webhooks have no key that
 * a service checks.
 */
export function callerOf(
  request: IncomingMessage,
  upstream: UpstreamName,
  address: () => string,
): string {
  if (upstream === 'webhook-ingest') return address();
  const { authorization } = request.headers;
  // The token and not the header, of which a client can write the same token in many forms.
  if (authorization !== undefined) return bearerTokenOf(authorization) ?? address();
  return sessionTokenOf(request) ?? address();
}
