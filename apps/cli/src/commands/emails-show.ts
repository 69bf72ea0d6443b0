import { Failure } from '../failure';
import { type KeyOptions, withManage } from '../manage';
import { safeText } from '../safe-text';
import { createStandIns } from '../stand-ins';
import { formatFields, formatTime, print, printJson } from '../terminal';

/**
 * `parley emails show`: prints an e-mail that a tool sent with the simulated provider of
 * `npm start`, by default the last.
 */
export async function runEmailsShow(
  id: string | undefined,
  { json, ...options }: KeyOptions,
): Promise<void> {
  const email = await withManage(options, async (manage) => {
    const emails = await createStandIns(await manage.getOrganization()).emails();
    const providerId = id === undefined ? null : (await manage.getEmail({ id })).providerId;
    return emails.findLast((one) => id === undefined || one.id === providerId);
  });
  if (email === undefined)
    throw new Failure(
      `No ${id === undefined ? 'e-mail' : `e-mail ${id}`} was sent with the simulated provider`,
    );
  if (json) return printJson(email);
  const { from, to, subject, at, text, html } = email;
  print(
    formatFields({ from, to: [to].flat().join(', '), subject, time: formatTime(new Date(at)) }),
  );
  print(`\n${safeText(text ?? html ?? '')}`);
}
