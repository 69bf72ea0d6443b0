import type { Scope } from '@parley/contracts';
import { type Queryable, lockKey } from '@parley/db';
import { createKapsoClient } from '../kapso/kapso-client';
import {
  type ConnectDeps,
  assignNumberTo,
  connectNumber,
  createConnection,
  findConnectionFor,
  isForeignCustomer,
  setContactType,
  simulateNumber,
} from './connections';
import { listConnections } from './read-connections';

export interface ChannelRequest {
  agentSlug: string | null;
  routerSlug: string | null;
  /** When absent, an existing connection keeps its type. */
  contactType?: string | null;
  /**
   * A number that is already connected at Kapso. Without it, a person connects one
   * through a setup link.
   */
  phoneNumberId?: string;
  /** An existing customer of the account. Default: a new one with this `name`. */
  customerId?: string;
  /** A number that does not exist at Kapso, for sample deliveries in development. */
  isSimulated?: boolean;
  name: string;
}

export type ChannelResult =
  | { ok: true; connectionId: string; setupLink: string | null }
  | {
      ok: false;
      reason:
        | 'not_configured'
        | 'only_development'
        | 'number_taken'
        | 'other_answerer'
        | 'foreign_customer'
        | 'too_many'
        | 'provider_failed';
      message: string;
    };

/** Called in the transaction that stores the connection. */
type RecordConnection = (
  tx: Queryable,
  stored: { connectionId: string; customerId: string | null },
) => Promise<void>;

const maxConnections = 50;

type Refusal = Extract<ChannelResult, { ok: false }>;
const refuse = (reason: Refusal['reason'], message: string): Refusal => ({
  ok: false,
  reason,
  message,
});

/**
 * Connects a number that Kapso knows, or creates a setup link with which a person connects one. Of
 * the account that organizations share (KAPSO_API_KEY), an environment may use the customers that
 * its connections have.
 */
export async function connectChannel(
  deps: ConnectDeps,
  scope: Scope,
  request: ChannelRequest,
  record: RecordConnection,
): Promise<ChannelResult> {
  const { phoneNumberId, contactType = null, ...answerer } = request;
  const connections = await listConnections(deps.db, scope);
  if (connections.length >= maxConnections && phoneNumberId === undefined)
    return refuse(
      'too_many',
      `An environment has at most ${maxConnections} channels. Disconnect one first`,
    );
  const create = (tx: Queryable, customerId: string | null) =>
    createConnection(tx, scope, {
      customerId,
      contactType,
      agentSlug: answerer.agentSlug,
      routerSlug: answerer.routerSlug,
    });
  if (request.isSimulated) {
    if (scope.environment === 'production')
      return refuse('only_development', 'A number can be simulated in development only');
    const connectionId = await deps.db.transaction(async (tx) => {
      const id = await create(tx, null);
      await simulateNumber(tx, scope, id);
      await record(tx, { connectionId: id, customerId: null });
      return id;
    });
    return { ok: true, connectionId, setupLink: null };
  }
  const account = await deps.accounts.kapso(scope);
  if (account === null)
    return refuse('not_configured', 'Kapso is not configured (integrations set kapso)');
  const client = createKapsoClient(account, deps);

  if (phoneNumberId === undefined) {
    const given = request.customerId;
    const isOwn =
      given === undefined ||
      !account.isShared ||
      connections.some((one) => one.customerId === given);
    if (given !== undefined && (!isOwn || (await isForeignCustomer(deps.db, scope, given))))
      return refuse(
        'foreign_customer',
        `Customer ${given} has no connection here. Connect a new one, or configure your own account`,
      );
    const made =
      request.customerId === undefined
        ? await client.createCustomer({
            name: request.name,
            externalId: `${scope.organizationId}-${scope.environment}`,
          })
        : { ok: true as const, value: request.customerId };
    if (!made.ok) return refuse('provider_failed', `Kapso: ${made.message}`);
    const link = await client.createSetupLink(made.value);
    if (!link.ok) return refuse('provider_failed', `Kapso: ${link.message}`);
    const customerId = made.value;
    const connectionId = await deps.db.transaction(async (tx) => {
      const id = await create(tx, customerId);
      await record(tx, { connectionId: id, customerId });
      return id;
    });
    return { ok: true, connectionId, setupLink: link.value };
  }

  const number = await client.getPhoneNumber(phoneNumberId);
  if (!number.ok) return refuse('provider_failed', `Kapso: ${number.message}`);
  const { customerId: owner, phoneNumber } = number.value;
  if (phoneNumber === null)
    return refuse('provider_failed', 'Kapso: the answer has no phone number');
  const stored = await deps.db.transaction((tx) =>
    store(tx, scope, { ...request, phoneNumberId, owner, phoneNumber }, record, account.isShared),
  );
  if (!stored.ok) return stored;
  const customerId = owner ?? phoneNumberId;
  const connected = await connectNumber(deps, { phoneNumberId, customerId });
  if (!connected.ok) return refuse('provider_failed', `Kapso: ${connected.message}`);
  return { ok: true, connectionId: connected.connection.id, setupLink: null };
}

type KnownNumber = ChannelRequest & {
  phoneNumberId: string;
  owner: string | null;
  phoneNumber: string | null;
};

/**
 * Gives a number to a connection of the environment: its own, else one of its customer without a
 * number, else a new one.
 */
async function store(
  tx: Queryable,
  scope: Scope,
  { phoneNumberId, owner, phoneNumber, ...request }: KnownNumber,
  record: RecordConnection,
  isShared: boolean,
): Promise<{ ok: true } | Refusal> {
  // Two requests for one number would both find it without a connection.
  await tx.acrossTenants('inbound webhook', lockKey, { key: `parley-number-${phoneNumberId}` });
  const customerId = owner ?? phoneNumberId;
  const found = await findConnectionFor(tx, { phoneNumberId, customerId });
  const number = `Number ${phoneNumberId}`;
  if (
    found !== null &&
    (found.organizationId !== scope.organizationId || found.environment !== scope.environment)
  )
    return refuse('number_taken', `${number} is connected to another organization or environment`);
  const { agentSlug, routerSlug, contactType } = request;
  if (found !== null && (found.agentSlug !== agentSlug || found.routerSlug !== routerSlug)) {
    const answers =
      found.routerSlug === null ? `agent ${found.agentSlug ?? '-'}` : `router ${found.routerSlug}`;
    return refuse(
      'other_answerer',
      `${number} already has the connection ${found.id}, which ${answers} answers`,
    );
  }
  const isOwn =
    found !== null || (await listConnections(tx, scope)).some((one) => one.customerId === owner);
  if (isShared && !isOwn)
    return refuse(
      'foreign_customer',
      `${number} belongs to a customer without a connection here. Connect it with a setup link, or configure your own account`,
    );
  const id =
    found?.id ??
    (await createConnection(tx, scope, {
      customerId,
      agentSlug,
      routerSlug,
      contactType: contactType ?? null,
    }));
  if (found !== null && contactType !== undefined) await setContactType(tx, scope, id, contactType);
  await assignNumberTo(tx, scope, id, { phoneNumberId, phoneNumber });
  await record(tx, { connectionId: id, customerId });
  return { ok: true };
}
