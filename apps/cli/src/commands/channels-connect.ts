import {
  type Accounts,
  type KapsoAccount,
  connectNumber,
  createAccounts,
  createConnection,
  createKapsoClient,
} from '@parley/channels';
import type { Queryable } from '@parley/db';
import { findStack, readVariable } from '../environment';
import { Failure, usageFailure } from '../failure';
import { type NamedScope, type ScopeOptions, withScope } from '../scope';
import { findSecret, openSecretBox } from '../secrets';
import { note, print, printJson } from '../terminal';

export interface ChannelsConnectOptions extends ScopeOptions {
  agent?: string;
  router?: string;
  customer?: string;
  phoneNumberId?: string;
  name?: string;
  json?: boolean;
}

/** `parley channels connect`: a connection that waits for its number, and the link at which a person connects it. */
export async function runChannelsConnect(options: ChannelsConnectOptions): Promise<void> {
  const { agent, router, json } = options;
  if ((agent === undefined) === (router === undefined)) throw usageFailure('Who answers? --agent or --router');
  const made = await withScope(options, async (db, scope) => {
    await requireAnswerer(db, scope, options);
    const accounts = createAccounts(db, openSecretBox(), {
      KAPSO_API_URL: findSecret('KAPSO_API_URL') ?? 'https://api.kapso.ai',
      KAPSO_API_KEY: findSecret('KAPSO_API_KEY'),
      RESEND_API_URL: '',
    });
    const account = await accounts.kapso(scope);
    if (account === null) throw new Failure('Kapso is not configured: parley integrations set kapso --api-key …');
    return connect(db, scope, { ...account, accounts }, options);
  });
  if (json) return printJson(made);
  note(`Connection ${made.connectionId} of customer ${made.customerId}`);
  print(made.setupLink ?? `Number ${made.phoneNumber} is connected.`);
}

async function connect(
  db: Queryable,
  scope: NamedScope,
  { accounts, ...account }: KapsoAccount & { accounts: Accounts },
  { agent, router, customer, phoneNumberId, name }: ChannelsConnectOptions,
) {
  const client = createKapsoClient(account);
  const answerer = { agentSlug: agent ?? null, routerSlug: router ?? null };
  if (phoneNumberId !== undefined) {
    const number = await client.getPhoneNumber(phoneNumberId);
    if (!number.ok) throw new Failure(`Kapso: ${number.message}`);
    const customerId = number.value.customerId ?? phoneNumberId;
    const connectionId = await createConnection(db, scope, { customerId, ...answerer });
    const gateway = readVariable('PUBLIC_URL') ?? findStack()?.gatewayUrl;
    if (gateway === undefined) throw new Failure('PUBLIC_URL is not set: it is where Kapso sends the messages');
    const webhookUrl = `${gateway.replace(/\/+$/, '')}/webhook/kapso/messages`;
    const webhookSecret = findSecret('MESSAGING_WEBHOOK_SECRET')?.split(/[\s,]+/)[0] ?? null;
    const connected = await connectNumber({ db, accounts, webhookUrl, webhookSecret }, { phoneNumberId, customerId });
    if (!connected.ok) throw new Failure(`Kapso: ${connected.message}`);
    const { phoneNumber } = connected.connection;
    return { connectionId, customerId, setupLink: null, phoneNumber };
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
  const connectionId = await createConnection(db, scope, { customerId: made.value, ...answerer });
  return { connectionId, customerId: made.value, setupLink: link.value, phoneNumber: null };
}

async function requireAnswerer(
  db: Queryable,
  scope: NamedScope,
  { agent, router }: ChannelsConnectOptions,
): Promise<void> {
  const { rowCount } =
    agent !== undefined
      ? await db.query('select 1 from agents where organization_id = $1 and slug = $2', [scope.organizationId, agent])
      : await db.query(
          'select 1 from routers where organization_id = $1 and environment = $3::"Environment" and slug = $2',
          [scope.organizationId, router, scope.environment],
        );
  if (rowCount === 0)
    throw new Failure(`No ${agent ? `agent "${agent}"` : `router "${router}"`} in ${scope.name}; push it first`);
}
