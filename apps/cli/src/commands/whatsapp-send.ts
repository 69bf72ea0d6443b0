import { setTimeout as sleep } from 'node:timers/promises';
import { hasAnswerer, oldestAgent } from '@parley/agents';
import { createAccounts, listConnections } from '@parley/channels';
import type { Db } from '@parley/db';
import { Failure } from '../failure';
import { safeText } from '../safe-text';
import { type NamedScope, type ScopeOptions, withScope } from '../scope';
import { channelSettings, openSecretBox } from '../secrets';
import { createStandIns, customerOf } from '../stand-ins';
import { note, print, printJson } from '../terminal';
import { connectNumberOrCustomer } from './channels-connect';

export interface WhatsappSendOptions extends ScopeOptions {
  from?: string;
  to?: string;
  agent?: string;
  wait: boolean;
}

/** Longer than a turn with several tool calls. */
const replyLimitMs = 60_000;
/** A reply can consist of several messages. After the first one, the others are awaited this long. */
const furtherMs = 500;

/** `parley whatsapp send`: writes to an agent as a customer, on the simulated WhatsApp of `npm start`, and prints the reply. */
export async function runWhatsappSend(text: string, options: WhatsappSendOptions): Promise<void> {
  const customer = customerOf(options.from);
  const { standIns, number } = await withScope(options, async (db, scope) => ({
    standIns: createStandIns({ id: scope.organizationId }),
    number: await numberOf(db, scope, options),
  }));
  const isReply = (one: { number: string; customer: string; direction: string }) =>
    one.direction === 'outbound' && one.number === number && one.customer === customer;
  const earlier = (await standIns.messages()).filter(isReply).length;
  await standIns.write({ number, customer, text });
  const readReplies = async () => (await standIns.messages()).filter(isReply).slice(earlier);
  let replies = await readReplies();
  for (const endMs = Date.now() + replyLimitMs; options.wait && replies.length === 0 && Date.now() < endMs;) {
    await sleep(100);
    replies = await readReplies();
    if (replies.length > 0) await sleep(furtherMs).then(async () => (replies = await readReplies()));
  }
  if (options.json) return printJson({ number, customer, replies: replies.map((reply) => reply.text) });
  for (const reply of replies) print(safeText(reply.text));
  if (replies.length === 0 && options.wait)
    throw new Failure('No reply within 60 s. See the reason with: parley messages list');
}

/** The connected number that is written to: the one of `--to` or `--agent`, else the latest. Without one, it is connected. */
async function numberOf(db: Db, scope: NamedScope, { to, agent }: WhatsappSendOptions): Promise<string> {
  if (agent !== undefined && !(await hasAnswerer(db, scope, { agentSlug: agent })))
    throw new Failure(`No agent "${agent}" in ${scope.name}. Push it first`);
  const connections = (await listConnections(db, scope)).filter(({ phoneNumberId }) => phoneNumberId !== null);
  const digits = to?.replace(/\D/g, '');
  const found = connections.findLast(
    (one) => (digits === undefined || one.phoneNumber === digits) && (agent === undefined || one.agent === agent),
  );
  if (found !== undefined) return found.phoneNumberId!;
  const account = await createAccounts(db, openSecretBox(), channelSettings()).kapso(scope);
  if (account?.apiUrl !== createStandIns({ id: scope.organizationId }).apiUrl)
    throw new Failure(
      `WhatsApp is connected to Kapso in ${scope.name}, not simulated. Write to its number from a phone`,
    );
  const answerer = agent ?? (await oldestAgent(db, scope));
  if (answerer === null) throw new Failure('There is no agent to answer the message. Push one first: parley push');
  const phoneNumberId = digits ?? `1555${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`;
  await connectNumberOrCustomer(db, scope, { agent: answerer, phoneNumberId });
  note(`Connected the simulated number +${phoneNumberId}, which agent ${answerer} answers.`);
  return phoneNumberId;
}
