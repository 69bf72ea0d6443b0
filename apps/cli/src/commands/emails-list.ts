import { type SentEmail, listEmails } from '@parley/channels';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

/** `parley emails list`: prints e-mails that tools sent, with the status that the provider reported. */
export async function runEmailsList({
  status,
  json,
  ...options
}: ScopeOptions & PageOptions & { status?: string }): Promise<void> {
  const page = parsePage(options, /^[\w-]+$/);
  const { name, items, next } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await listEmails(db, scope, { ...page, status })),
  }));
  if (json) return printJson({ emails: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} e-mails in ${name}`);
  print(formatTable(['EMAIL', 'TO', 'SUBJECT', 'STATUS', 'ATTEMPTS', 'CREATED', 'REASON'], items.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = (email: SentEmail): string[] => [
  email.id,
  previewOf(email.to.join(', '), 40),
  previewOf(email.subject, 40),
  email.status,
  String(email.attempts),
  formatTime(email.createdAt),
  previewOf(email.error ?? '', 80),
];
