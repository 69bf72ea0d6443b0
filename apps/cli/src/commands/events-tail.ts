import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '@parley/contracts';
import type { Queryable } from '@parley/db';
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

interface EventRow {
  id: string;
  type: string;
  entityType: string | null;
  entityId: string | null;
  payload: JsonObject;
  actor: JsonObject;
  hops: number;
  requestId: string | null;
  createdAt: Date;
}

const pollMs = 250;
/** Numbers are given before commits: an event with a lower one may still appear for so long. */
const lateMs = 5_000;

/** `parley events tail`: the last events, and then each as it happens. */
export async function runEventsTail(options: EventsTailOptions): Promise<void> {
  const last = parseLimit(options.last, 10, '--last', 0);
  const show = options.json ? printJson : (event: EventRow) => print(formatEvent(event));
  await withScope(options, async (db, scope) => {
    const before = await readEvents(db, scope, options, { limit: last });
    before.forEach(show);
    if (options.once) return;
    const seen = new Map(before.map(({ id }) => [id, Date.now()]));
    let floor = before[0]?.id ?? (await readEvents(db, scope, {}, { limit: 1 })).at(-1)?.id ?? '0';
    for (; ; await sleep(pollMs)) {
      const events = await readEvents(db, scope, options, { limit: 1_000, after: floor });
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

async function readEvents(
  db: Queryable,
  scope: NamedScope,
  { type, entity }: EventsTailOptions,
  { limit, after }: { limit: number; after?: string },
): Promise<EventRow[]> {
  if (limit === 0) return [];
  const { rows } = await db.query<EventRow>(
    `select * from (
       select id::text, type, entity_type as "entityType", entity_id as "entityId", payload, actor, hops,
         request_id as "requestId", created_at as "createdAt"
       from events where organization_id = $1 and environment = $2::"Environment"
         and ($3::text is null or type = $3 or starts_with(type, $4)) and ($5::text is null or entity_id = $5)
         and ($6::bigint is null or events.id > $6)
       order by events.id desc limit $7) e order by e.id::bigint`,
    [
      scope.organizationId,
      scope.environment,
      type ?? null,
      type?.endsWith('.*') ? type.slice(0, -1) : (type ?? null),
      entity ?? null,
      after ?? null,
      limit,
    ],
  );
  return rows;
}

function formatEvent({ type, entityType, entityId, payload, actor, createdAt }: EventRow): string {
  const about = entityId === null ? '' : `  ${entityType ?? ''} ${entityId}`;
  const who = [actor.type, actor.trigger ?? actor.slug ?? actor.provider].filter(Boolean).join(' ');
  const said = payload.data === undefined ? payload : { status: payload.status, data: payload.data };
  const line = `${type}${about}  by ${who}  ${cutText(JSON.stringify(said), 200)}`;
  return `${colors.dim(formatTime(createdAt))}  ${safeLine(line)}`;
}
