import { hasAnswerer } from '@parley/agents';
import { connectChannel, createAccounts } from '@parley/channels';
import type { Db, Queryable } from '@parley/db';
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
  db: Db,
  scope: NamedScope,
  { agent, router, contactType, customer, phoneNumberId, name }: ChannelsConnectOptions,
) {
  const gateway = readVariable('PUBLIC_URL') ?? findStack()?.gatewayUrl;
  if (phoneNumberId !== undefined && gateway === undefined)
    throw new Failure('PUBLIC_URL is not set. Set it to the public address of the gateway, where Kapso sends messages');
  const deps = {
    db,
    accounts: createAccounts(db, openSecretBox(), channelSettings()),
    webhookUrl: `${(gateway ?? '').replace(/\/+$/, '')}/webhook/kapso/messages`,
    webhookSecrets: findSecrets('MESSAGING_WEBHOOK_SECRET'),
  };
  const request = {
    ...{ agentSlug: agent ?? null, routerSlug: router ?? null },
    ...(contactType !== undefined && { contactType: contactType || null }),
    ...{ phoneNumberId, customerId: customer, name: name ?? scope.name },
  };
  const made = await connectChannel(deps, scope, request, { isOperator: true });
  if (!made.ok) throw new Failure(made.message);
  const { ok: _, ...connection } = made;
  return connection;
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
