import { setTimeout as sleep } from 'node:timers/promises';
import type { ManageClient } from '@parley/client/manage';
import { Failure } from '../failure';
import { type KeyOptions, oldestAgent, withManage } from '../manage';
import { safeText } from '../safe-text';
import { createStandIns, customerOf } from '../stand-ins';
import { note, print, printJson } from '../terminal';

export interface WhatsappSendOptions extends KeyOptions {
  from?: string;
  to?: string;
  agent?: string;
  wait: boolean;
}

/**
 * Longer than a turn with several tool calls. The notice of an outage is sent 60 s after the
 * message arrived, when the attempt of that time has failed.
 */
const replyLimitMs = 90_000;
/**
 * A reply can consist of several messages. After the first one, the others are awaited this long.
 */
const furtherMs = 500;

/**
 * `parley whatsapp send`: writes to an agent as a customer, on the simulated WhatsApp of
 * `npm start`, and prints the reply.
 */
export async function runWhatsappSend(text: string, options: WhatsappSendOptions): Promise<void> {
  const customer = customerOf(options.from);
  const { standIns, number } = await withManage(options, async (manage) => {
    const standIns = createStandIns(await manage.getOrganization());
    return { standIns, number: await numberOf(manage, standIns, options) };
  });
  const isReply = (one: { number: string; customer: string; direction: string }) =>
    one.direction === 'outbound' && one.number === number && one.customer === customer;
  const earlier = (await standIns.messages()).filter(isReply).length;
  await standIns.write({ number, customer, text });
  const readReplies = async () => (await standIns.messages()).filter(isReply).slice(earlier);
  let replies = await readReplies();
  for (
    const endMs = Date.now() + replyLimitMs;
    options.wait && replies.length === 0 && Date.now() < endMs;
  ) {
    await sleep(100);
    replies = await readReplies();
    if (replies.length > 0)
      await sleep(furtherMs).then(async () => (replies = await readReplies()));
  }
  if (options.json)
    return printJson({ number, customer, replies: replies.map((reply) => reply.text) });
  for (const reply of replies) print(safeText(reply.text));
  if (replies.length === 0 && options.wait)
    throw new Failure('No reply within 90 s. See the reason with: parley messages list');
}

/**
 * The connected number that is written to: the one of `--to` or `--agent`, else the latest. Without
 * one, it is connected.
 */
async function numberOf(
  manage: ManageClient,
  { apiUrl }: { apiUrl: string },
  { to, agent }: WhatsappSendOptions,
): Promise<string> {
  const digits = to?.replace(/\D/g, '');
  const found = (await manage.listChannels()).data.findLast(
    (one) =>
      one.phoneNumberId !== null &&
      (digits === undefined || one.phoneNumber === digits) &&
      (agent === undefined || one.agent === agent),
  );
  if (found !== undefined) return found.phoneNumberId!;
  const account = (await manage.listIntegrations()).data.find(
    ({ provider }) => provider === 'kapso',
  );
  if (
    account?.isConfigured &&
    account.fields.find(({ name }) => name === 'apiUrl')?.value !== apiUrl
  )
    throw new Failure(
      'WhatsApp is connected to Kapso, not simulated. Write to its number from a phone',
    );
  const answerer = agent ?? (await oldestAgent(manage));
  const phoneNumberId = digits ?? `1555${String(Math.floor(Math.random() * 1e7)).padStart(7, '0')}`;
  await manage.connectChannel({ agent: answerer, phoneNumberId });
  note(`Connected the simulated number +${phoneNumberId}, which agent ${answerer} answers.`);
  return phoneNumberId;
}
