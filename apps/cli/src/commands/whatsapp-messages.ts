import { type KeyOptions, withManage } from '../manage';
import { safeText } from '../safe-text';
import { createStandIns, customerOf } from '../stand-ins';
import { colors, formatTime, note, print, printJson } from '../terminal';

/**
 * `parley whatsapp messages`: prints what a customer has written and read on the simulated
 * WhatsApp of `npm start`.
 */
export async function runWhatsappMessages({
  from,
  json,
  ...options
}: KeyOptions & { from?: string }): Promise<void> {
  const customer = customerOf(from);
  const organization = await withManage(options, (manage) => manage.getOrganization());
  const all = await createStandIns(organization).messages();
  const messages = all.filter((one) => one.customer === customer);
  if (json) return printJson({ messages });
  if (messages.length === 0) return note(`No messages with ${customer}`);
  for (const { direction, at, text } of messages) {
    const who = direction === 'inbound' ? 'customer' : 'agent';
    print(
      `${colors.dim(`${formatTime(new Date(at))}  ${who.padEnd(8)}`)}  ${safeText(text).replaceAll('\n', `\n${' '.repeat(31)}`)}`,
    );
  }
}
