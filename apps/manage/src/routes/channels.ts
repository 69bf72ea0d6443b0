import {
  type ConnectDeps,
  connectChannel,
  disconnectChannel,
  listConnections,
} from '@parley/channels';
import type { Db } from '@parley/db';
import { type Handler, badGateway, conflict, shareRequests } from '@parley/service';
import { type AuditDeps, auditOf } from '../audit';
import { channelNotFound, requireAnswerer, requireContactType, toConnection } from './messages';

interface Handlers {
  connectChannel: Handler<'connectChannel'>;
  disconnectChannel: Handler<'disconnectChannel'>;
}

export interface ChannelRouteDeps extends AuditDeps {
  db: Db;
  /** How numbers are connected: the account, the address of webhooks and their secrets. */
  connect: ConnectDeps;
}

/** Connections that a process makes at the same time. Each calls the provider up to four times. */
const maxConnecting = 32;

export function createChannelHandlers({ db, connect, ...deps }: ChannelRouteDeps): Handlers {
  const shared = shareRequests({
    total: maxConnecting,
    code: 'too_many_connecting',
    message: 'Other channels of the organization are being connected',
  });

  return {
    connectChannel: shared(async ({ body: { agent, router, contactType, ...number } }, context) => {
      const { scope } = context;
      await requireAnswerer(db, scope, { agent, router });
      if (contactType) await requireContactType(db, scope, contactType);
      const made = await connectChannel(
        connect,
        scope,
        { agentSlug: agent ?? null, routerSlug: router ?? null, contactType, ...number },
        (tx, { connectionId, customerId }) =>
          auditOf(deps, context)(tx, {
            action: 'channel.connected',
            target: { type: 'channel', id: connectionId },
            after: {
              customerId,
              phoneNumberId: number.phoneNumberId ?? null,
              agent: agent ?? null,
              router: router ?? null,
              ...(contactType !== undefined && { contactType }),
              ...(number.isSimulated && { isSimulated: true }),
            },
          }),
      );
      if (!made.ok && made.reason === 'provider_failed')
        throw badGateway(made.message, made.reason);
      if (!made.ok) throw conflict(made.message, made.reason);
      const channel = (await listConnections(db, scope)).find(({ id }) => id === made.connectionId);
      if (channel === undefined) throw channelNotFound();
      return { channel: toConnection(channel), setupLink: made.setupLink };
    }),

    disconnectChannel: shared(async ({ params: { id } }, context) => {
      const done = await disconnectChannel(connect, context.scope, id, (tx, connection) => {
        const { phoneNumber, phoneNumberId, agentSlug: agent, routerSlug: router } = connection;
        return auditOf(deps, context)(tx, {
          action: 'channel.disconnected',
          target: { type: 'channel', id },
          before: { phoneNumber, phoneNumberId, agent, router },
        });
      });
      if (done.ok) return { success: true };
      if (done.reason === 'not_found') throw channelNotFound();
      throw badGateway(done.message, done.reason);
    }),
  };
}
