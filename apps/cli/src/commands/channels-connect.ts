import { hasAnswerer } from '@parley/agents';
import {
  connectNumber,
  createAccounts,
  createConnection,
  createKapsoClient,
  findConnectionFor,
  setContactType,
} from '@parley/channels';
import type { Queryable } from '@parley/db';
import { readEntityTypes } from '@parley/entities';
import { findStack, readVariable } from '../environment';
import { Failure, usageFailure } from '../failure';
import { type NamedScope, type ScopeOptions, withScope } from '../scope';
import { channelSettings, findSecrets, openSecretBox } from '../secrets';
import { note, print, printJson } from '../terminal';

export interface ChannelsConnectOptions extends ScopeOptions {
  agent?: string;
  router?: string;
  /** Entity type of the contacts; "" for none. When absent, an existing connection keeps its type. */
  contactType?: string;
  customer?: string;
  phoneNumberId?: string;
  name?: string;
}

/** `parley channels connect`: creates a pending connection and the link at which a person connects the number. */
export async function runChannelsConnect(options: ChannelsConnectOptions): Promise<void> {
  const { agent, router, json } = options;
  if ((agent === undefined) === (router === undefined))
    throw usageFailure('Choose who answers with either --agent or --router');
  const made = await withScope(options, async (db, scope) => {
    if (!(await hasAnswerer(db, scope, { agentSlug: agent, routerSlug: router })))
      throw new Failure(`No ${agent ? `agent "${agent}"` : `router "${router}"`} in ${scope.name}. Push it first`);
    await requireContactType(db, scope, options);
    return connectNumberOrCustomer(db, scope, options);
  });
  if (json) return printJson(made);
  note(`Connection ${made.connectionId} of customer ${made.customerId}`);
  print(made.setupLink ?? `Number ${made.phoneNumber} is connected.`);
}

/** Connects a number that Kapso knows, or creates a setup link for a customer's. */
export async function connectNumberOrCustomer(
  db: Queryable,
  scope: NamedScope,
  { agent, router, contactType, customer, phoneNumberId, name }: ChannelsConnectOptions,
) {
  const accounts = createAccounts(db, openSecretBox(), channelSettings());
  const account = await accounts.kapso(scope);
  if (account === null)
    throw new Failure('Kapso is not configured. Configure it with: parley integrations set kapso --api-key …');
  const client = createKapsoClient(account);
  const answerer = { agentSlug: agent ?? null, routerSlug: router ?? null };
  const settings = { ...answerer, contactType: contactType || null };
  if (phoneNumberId !== undefined) {
    const number = await client.getPhoneNumber(phoneNumberId);
    if (!number.ok) throw new Failure(`Kapso: ${number.message}`);
    const customerId = number.value.customerId ?? phoneNumberId;
    const gateway = readVariable('PUBLIC_URL') ?? findStack()?.gatewayUrl;
    if (gateway === undefined)
      throw new Failure(
        'PUBLIC_URL is not set. Set it to the public address of the gateway, where Kapso sends messages',
      );
    const webhookUrl = `${gateway.replace(/\/+$/, '')}/webhook/kapso/messages`;
    const webhookSecrets = findSecrets('MESSAGING_WEBHOOK_SECRET');
    const existing = await findExisting(db, scope, { phoneNumberId, customerId, ...answerer });
    if (existing === null) await createConnection(db, scope, { customerId, ...settings });
    else if (contactType !== undefined) await setContactType(db, scope, existing, settings.contactType);
    const connected = await connectNumber({ db, accounts, webhookUrl, webhookSecrets }, { phoneNumberId, customerId });
    if (!connected.ok) throw new Failure(`Kapso: ${connected.message}`);
    const { id, phoneNumber } = connected.connection;
    return { connectionId: id, customerId, setupLink: null, phoneNumber };
  }
  const made = customer
    ? ({ ok: true, value: customer } as const)
    : await client.createCustomer({
        name: name ?? scope.name,
        externalId: `${scope.organizationId}-${scope.environment}`,
      });
  if (!made.ok) throw new Failure(`Kapso: ${made.message}`);
  const link = await client.createSetupLink(made.value);
  if (!link.ok) throw new Failure(`Kapso: ${link.message}`);
  const connectionId = await createConnection(db, scope, { customerId: made.value, ...settings });
  return { connectionId, customerId: made.value, setupLink: link.value, phoneNumber: null };
}

async function requireContactType(
  db: Queryable,
  scope: NamedScope,
  { contactType }: ChannelsConnectOptions,
): Promise<void> {
  if (!contactType) return;
  const types = await readEntityTypes(db, scope);
  if (!types.some(({ slug }) => slug === contactType))
    throw new Failure(`No entity type "${contactType}" in ${scope.name}. Push it first`);
}

/**
 * The existing connection of a number or customer, or null. Connecting it again registers its webhook again, but does not
 * change its organization, environment, agent or router.
 */
async function findExisting(
  db: Queryable,
  scope: NamedScope,
  requested: { phoneNumberId: string; customerId: string; agentSlug: string | null; routerSlug: string | null },
): Promise<string | null> {
  const found = await findConnectionFor(db, requested);
  if (found === null) return null;
  const number = `Number ${requested.phoneNumberId}`;
  if (found.organizationId !== scope.organizationId || found.environment !== scope.environment)
    throw new Failure(`${number} is connected to another organization or environment`);
  if (found.agentSlug !== requested.agentSlug || found.routerSlug !== requested.routerSlug) {
    const answers = found.routerSlug === null ? `agent ${found.agentSlug ?? '-'}` : `router ${found.routerSlug}`;
    throw new Failure(`${number} already has the connection ${found.id}, which ${answers} answers`);
  }
  return found.id;
}
