import { setTimeout as sleep } from 'node:timers/promises';
import { type StoredEvent, followEvents, readEvents } from '@parley/events';
import { Failure } from '../failure';
import { parseLimit } from '../page';
import { cutText, safeLine } from '../safe-text';
import { type ScopeOptions, withScope } from '../scope';
import { colors, formatTime, print, printJson } from '../terminal';

export interface EventsTailOptions extends ScopeOptions {
  type?: string;
  entity?: string;
  last?: string;
  once?: boolean;
  json?: boolean;
}

const pollMs = 250;
/** Of one read. An event may hold two megabytes. */
const pageEvents = 100;

/** `parley events tail`: the last events, and then each as it happens. */
export async function runEventsTail(options: EventsTailOptions): Promise<void> {
  const last = parseLimit(options.last, 10, '--last', 0);
  const filter = { type: options.type, entityId: options.entity };
  const show = (event: StoredEvent): void => {
    const shown = { ...event, createdAt: new Date(event.createdAt) };
    if (options.json) printJson(shown);
    else print(formatEvent(shown));
  };
  await withScope(options, async (db, scope) => {
    const follow = async (cursor: string | null) => {
      const page = await followEvents(db, scope, filter, cursor, pageEvents);
      if (!page.ok) throw new Failure('The database was restored, or the last event removed. Run events tail again.');
      return page;
    };
    let page = options.once ? null : await follow(null);
    const before = (await readEvents(db, scope, filter, Math.max(last, pageEvents))).reverse();
    before.slice(before.length - last).forEach(show);
    // The newest ones are there already, and may still come after the cursor.
    const seen = new Set(before.map(({ id }) => id));
    for (; page !== null; page = await follow(page.cursor)) {
      page.events.filter(({ id }) => !seen.has(id)).forEach(show);
      if (page.events.length < pageEvents) await sleep(pollMs);
    }
  });
}

function formatEvent({
  type,
  entityType,
  entityId,
  payload,
  actor,
  createdAt,
}: Omit<StoredEvent, 'createdAt'> & { createdAt: Date }): string {
  const about = entityId === null ? '' : `  ${entityType ?? ''} ${entityId}`;
  const { trigger, slug, provider } = actor as { trigger?: string; slug?: string; provider?: string };
  const who = [actor.type, trigger ?? slug ?? provider].filter(Boolean).join(' ');
  const said = payload.data === undefined ? payload : { status: payload.status, data: payload.data };
  const line = `${type}${about}  by ${who}  ${cutText(JSON.stringify(said), 200)}`;
  return `${colors.dim(formatTime(createdAt))}  ${safeLine(line)}`;
}
