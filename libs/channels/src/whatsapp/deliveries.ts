import type { Scope } from '@parley/contracts';
import { type Queryable, type RowOf, column, statement } from '@parley/db';
import { replyKey, retryKeySql } from './message-keys';

const deliveryRow = {
  /** Id of the message in the outbox; of its retry if it was retried. */
  id: column.text,
  originalId: column.text,
  key: column.text.nullable,
  status: column.text,
  error: column.text.nullable,
};
type Delivery = Pick<RowOf<typeof deliveryRow>, 'id' | 'status' | 'error'>;

const outbound = statement(
  'deliveries-of-replies',
  `select coalesce(r.id, m.id) as id, m.id as "originalId", m.idempotency_key as key, coalesce(r.status, m.status) as status,
          case when r.id is null then m.error else r.error end as error
   from messages m
   left join messages r on r.tenant = $tenant and r.environment = m.environment
     and r.idempotency_key = ${retryKeySql('m.id')}
   where m.tenant = $tenant and m.environment = $environment::"Environment"
     and (m.id = any($ids) or m.idempotency_key = any($keys))`,
  deliveryRow,
);

/** A reply may be split into messages of at least half of the maximum length. */
const partsOf = (text: string): number => 1 + Math.floor(text.length / 2_048);
/**
 * The states of a reply in several messages, from the one that a person has to know to the best.
 */
const worstFirst = ['failed', 'unknown', 'held', 'queued', 'sending', 'sent', 'delivered', 'read'];

/**
 * How replies were delivered, in their order: each is known by the id of its message or by the
 * request of the turn that wrote it. Null: it was not sent over a channel. A reply in several
 * messages has the state of the one that got the least far.
 */
export async function deliveriesOf(
  db: Queryable,
  scope: Scope,
  replies: readonly { channelMessageId: string | null; requestId: string | null; text: string }[],
): Promise<(Delivery | null)[]> {
  const keysOf = replies.map(({ channelMessageId, requestId, text }) =>
    channelMessageId !== null || requestId === null
      ? []
      : Array.from({ length: partsOf(text) }, (_, part) => replyKey.of(requestId, part)),
  );
  const ids = replies.flatMap(({ channelMessageId }) => channelMessageId ?? []);
  if (ids.length === 0 && keysOf.every((keys) => keys.length === 0)) return replies.map(() => null);
  const { rows } = await db.query(scope, outbound, {
    environment: scope.environment,
    ids,
    keys: keysOf.flat(),
  });
  return replies.map(({ channelMessageId }, index) => {
    const own = rows.filter(
      ({ originalId, key }) =>
        originalId === channelMessageId || keysOf[index]!.includes(key ?? ''),
    );
    const [worst] = own.sort((a, b) => worstFirst.indexOf(a.status) - worstFirst.indexOf(b.status));
    return worst === undefined ? null : { id: worst.id, status: worst.status, error: worst.error };
  });
}
