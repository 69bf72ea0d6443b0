import { listEmails } from '@parley/channels';
import { Failure } from '../failure';
import { safeText } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { createStandIns } from '../stand-ins';
import { formatFields, formatTime, print, printJson } from '../terminal';

/** The number of e-mails that the stand-ins keep. */
const kept = 100;

/** `parley emails show`: prints an e-mail that a tool sent with the simulated provider of `npm start`, by default the last. */
export async function runEmailsShow(id: string | undefined, { json, ...options }: ScopeOptions): Promise<void> {
  const { emails, providerId } = await withScope(options, async (db, scope) => {
    const emails = await createStandIns(scope).emails();
    const { items } = await listEmails(db, scope, { limit: kept, before: null });
    return { emails, providerId: items.find((item) => item.id === id)?.providerId };
  });
  const email = emails.findLast((one) => id === undefined || one.id === providerId);
  if (email === undefined)
    throw new Failure(`No ${id === undefined ? 'e-mail' : `e-mail ${id}`} was sent with the simulated provider`);
  if (json) return printJson(email);
  const { from, to, subject, at, text, html } = email;
  print(formatFields({ from, to: [to].flat().join(', '), subject, time: formatTime(new Date(at)) }));
  print(`\n${safeText(text ?? html ?? '')}`);
}
