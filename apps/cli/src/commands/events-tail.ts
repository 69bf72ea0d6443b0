import { setTimeout as sleep } from 'node:timers/promises';
import type { ResultOf } from '@parley/client/manage';
import { type KeyOptions, readPages, withManage } from '../manage';
import { parseLimit } from '../page';
import { cutText, safeLine } from '../safe-text';
import { colors, formatTime, print, printJson } from '../terminal';

export interface EventsTailOptions extends KeyOptions {
  type?: string;
  entity?: string;
  last?: string;
  once?: boolean;
}

type StoredEvent = ResultOf<'listEvents'>['data'][number];

const pollMs = 500;
/** Events per read. */
const limit = 100;

/** `parley events tail`: prints the last events, then each new one. */
export async function runEventsTail({
  type,
  entity,
  last: wanted,
  once,
  json,
  ...options
}: EventsTailOptions) {
  const last = parseLimit(wanted, 10, '--last', 0);
  const filter = { type, entityId: entity };
  const show = (event: StoredEvent) => (json ? printJson(event) : print(formatEvent(event)));
  await withManage(options, async (manage) => {
    let after = once ? null : (await manage.followEvents(filter)).cursor;
    const count = once ? last : Math.max(last, limit);
    const newest =
      count === 0
        ? []
        : (await readPages((page) => manage.listEvents({ ...page, ...filter }), count)).data;
    newest.slice(0, last).reverse().forEach(show);
    // Some of these also follow the cursor.
    const seen = new Set(newest.map(({ id }) => id));
    while (after !== null) {
      const { data, cursor } = await manage.followEvents({ ...filter, after, limit });
      data.filter(({ id }) => !seen.has(id)).forEach(show);
      after = cursor;
      if (data.length < limit) await sleep(pollMs);
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
}: StoredEvent): string {
  const about = entityId === null ? '' : `  ${entityType ?? ''} ${entityId}`;
  const by = actor.by as { type: string; id: string } | undefined;
  const who = [
    actor.type,
    actor.trigger ?? actor.slug ?? actor.provider ?? actor.name,
    by && `for ${by.type} ${by.id}`,
  ]
    .filter(Boolean)
    .join(' ');
  const shown =
    payload.data === undefined ? payload : { status: payload.status, data: payload.data };
  const line = `${type}${about}  by ${who}  ${cutText(JSON.stringify(shown), 200)}`;
  return `${colors.dim(formatTime(createdAt))}  ${safeLine(line)}`;
}
