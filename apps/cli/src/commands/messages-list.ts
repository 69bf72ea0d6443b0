import { type ChannelMessage, listMessages } from '@parley/channels';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

interface MessagesListOptions extends ScopeOptions, PageOptions {
  status?: string;
  direction?: string;
  contact?: string;
}

/** `parley messages list`: prints messages of channels with their status and the reason of failures. */
export async function runMessagesList({ json, ...options }: MessagesListOptions): Promise<void> {
  const page = parsePage(options, /^[\w-]+$/);
  const { status, direction } = options;
  // Numbers may be written with a plus and spaces. Business-scoped ids contain letters.
  const contact = /[a-z]/i.test(options.contact ?? '') ? options.contact : options.contact?.replace(/\D/g, '');
  const { name, items, next } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await listMessages(db, scope, { ...page, status, direction, contact })),
  }));
  if (json) return printJson({ messages: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} messages in ${name}`);
  const header = ['MESSAGE', '', 'CONTACT', 'TYPE', 'STATUS', 'ATTEMPTS', 'CREATED', 'TEXT', 'REASON'];
  print(formatTable(header, items.map(toRow)));
  if (next !== null) note(`Next page: --before ${next}`);
}

const toRow = (message: ChannelMessage): string[] => [
  message.id,
  message.direction === 'inbound' ? 'in' : 'out',
  message.contact,
  message.type,
  message.status,
  String(message.attempts),
  formatTime(message.createdAt),
  previewOf(message.text ?? '', 40),
  previewOf(message.error ?? '', 80),
];
