import { type ChannelMessage, listMessages } from '@parley/channels';
import { type PageOptions, parsePage } from '../page';
import { previewOf } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { formatTable, formatTime, note, print, printJson } from '../terminal';

interface MessagesListOptions extends ScopeOptions, PageOptions {
  status?: string;
  direction?: string;
  contact?: string;
  json?: boolean;
}

/** `parley messages list`: what channels have brought and sent, with why it failed. */
export async function runMessagesList({ json, ...options }: MessagesListOptions): Promise<void> {
  const page = parsePage(options, /^[\w-]+$/);
  const { status, direction } = options;
  // As people write numbers, with a plus and spaces; scoped ids have letters.
  const contact = /[a-z]/i.test(options.contact ?? '') ? options.contact : options.contact?.replace(/\D/g, '');
  const { name, items, next } = await withScope(options, async (db, scope) => ({
    name: scope.name,
    ...(await listMessages(db, scope, { ...page, status, direction, contact })),
  }));
  if (json) return printJson({ messages: items, next });
  if (items.length === 0) return note(`No${page.before ? ' more' : ''} messages in ${name}`);
  const header = ['MESSAGE', '', 'CONTACT', 'TYPE', 'STATUS', 'TRIES', 'MADE', 'TEXT', 'REASON'];
  print(formatTable(header, items.map(toRow)));
  if (next !== null) note(`more: --before ${next}`);
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
