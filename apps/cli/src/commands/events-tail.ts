import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '@parley/db';
import { type StoredEvent, readEvents } from '@parley/events';
import { parseLimit } from '../page';
import { cutText, safeLine } from '../safe-text';
import { type NamedScope, type ScopeOptions, withScope } from '../scope';
import { colors, formatTime, print, printJson } from '../terminal';

export interface EventsTailOptions extends ScopeOptions {
  type?: string;
  entity?: string;
  last?: string;
  once?: boolean;
  json?: boolean;
}

type ShownEvent = Omit<StoredEvent, 'createdAt'> & { createdAt: Date };

const pollMs = 250;
/** Numbers are given before commits: an event with a lower one may still appear for so long. */
const lateMs = 5_000;

/** `parley events tail`: the last events, and then each as it happens. */
export async function runEventsTail(options: EventsTailOptions): Promise<void> {
  const last = parseLimit(options.last, 10, '--last', 0);
  const show = options.json ? printJson : (event: ShownEvent) => print(formatEvent(event));
  await withScope(options, async (db, scope) => {
    const before = await readLast(db, scope, options, { limit: last });
    before.forEach(show);
    if (options.once) return;
    const seen = new Map(before.map(({ id }) => [id, Date.now()]));
    let floor = before[0]?.id ?? (await readLast(db, scope, {}, { limit: 1 })).at(-1)?.id ?? '0';
    for (; ; await sleep(pollMs)) {
      const events = await readLast(db, scope, options, { limit: 1_000, after: floor });
      for (const event of events.filter(({ id }) => !seen.has(id))) {
        show(event);
        seen.set(event.id, Date.now());
      }
      // It only moves past what is old enough that nothing below can still appear.
      for (const [id, atMs] of seen) {
        if (Date.now() - atMs < lateMs) break;
        seen.delete(id);
        if (BigInt(id) > BigInt(floor)) floor = id;
      }
    }
  });
}

/** The last `limit` events, oldest first. */
async function readLast(
  db: Queryable,
  scope: NamedScope,
  { type, entity: entityId }: EventsTailOptions,
  { limit, after }: { limit: number; after?: string },
): Promise<ShownEvent[]> {
  if (limit === 0) return [];
  const events = await readEvents(db, scope, { type, entityId, after }, limit);
  return events.reverse().map((event) => ({ ...event, createdAt: new Date(event.createdAt) }));
}

function formatEvent({ type, entityType, entityId, payload, actor, createdAt }: ShownEvent): string {
  const about = entityId === null ? '' : `  ${entityType ?? ''} ${entityId}`;
  const { trigger, slug, provider } = actor as { trigger?: string; slug?: string; provider?: string };
  const who = [actor.type, trigger ?? slug ?? provider].filter(Boolean).join(' ');
  const said = payload.data === undefined ? payload : { status: payload.status, data: payload.data };
  const line = `${type}${about}  by ${who}  ${cutText(JSON.stringify(said), 200)}`;
  return `${colors.dim(formatTime(createdAt))}  ${safeLine(line)}`;
}
