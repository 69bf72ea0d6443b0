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
}

const pollMs = 250;
/** Events per read. */
const pageEvents = 100;

/** `parley events tail`: prints the last events, then each new one. */
export async function runEventsTail(options: EventsTailOptions): Promise<void> {
  const last = parseLimit(options.last, 10, '--last', 0);
  const filter = { type: options.type, entityId: options.entity };
  const show = (event: StoredEvent) =>
    options.json ? printJson({ ...event, createdAt: new Date(event.createdAt) }) : print(formatEvent(event));
  await withScope(options, async (db, scope) => {
    let page = options.once ? null : await followEvents(db, scope, filter, null, pageEvents);
    const newest = await readEvents(db, scope, filter, options.once ? last : Math.max(last, pageEvents));
    const before = newest.events.reverse();
    before.slice(before.length - last).forEach(show);
    // Some of these also follow the cursor.
    const seen = new Set(before.map(({ id }) => id));
    for (; page !== null; page = await followEvents(db, scope, filter, page.cursor, pageEvents)) {
      if (!page.ok)
        throw new Failure(
          'The last event no longer exists, as after a restore of a backup. Run parley events tail again',
        );
      page.events.filter(({ id }) => !seen.has(id)).forEach(show);
      if (page.events.length < pageEvents) await sleep(pollMs);
    }
  });
}

function formatEvent({ type, entityType, entityId, payload, actor, createdAt }: StoredEvent): string {
  const about = entityId === null ? '' : `  ${entityType ?? ''} ${entityId}`;
  const { trigger, slug, provider, name } = actor as {
    trigger?: string;
    slug?: string;
    provider?: string;
    name?: string;
  };
  const who = [actor.type, trigger ?? slug ?? provider ?? name].filter(Boolean).join(' ');
  const shown = payload.data === undefined ? payload : { status: payload.status, data: payload.data };
  const line = `${type}${about}  by ${who}  ${cutText(JSON.stringify(shown), 200)}`;
  return `${colors.dim(formatTime(new Date(createdAt)))}  ${safeLine(line)}`;
}
