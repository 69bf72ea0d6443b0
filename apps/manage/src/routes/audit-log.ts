import { listAuditLog } from '@parley/audit';
import type { Db } from '@parley/db';
import type { Handler } from '@parley/service';
import { dateOf, msOf, pageOf, timeId } from '../page';

interface Handlers {
  listAuditLog: Handler<'listAuditLog'>;
}

export const createAuditLogHandlers = ({ db }: { db: Db }): Handlers => ({
  async listAuditLog({ query }, { scope }) {
    const { page, answer } = pageOf('audit-log', scope, query, timeId);
    const { action, actorId, targetId } = query;
    const entries = await listAuditLog(db, scope, {
      ...page,
      action,
      actorId,
      targetId,
      since: dateOf(query.since),
    });
    return answer(
      entries,
      ({
        actorType,
        actorId: id,
        actorName,
        targetType,
        targetId: target,
        createdAt,
        ...entry
      }) => ({
        ...entry,
        actor: { type: actorType, id, name: actorName },
        target: targetType === null || target === null ? null : { type: targetType, id: target },
        createdAt: msOf(createdAt),
      }),
    );
  },
});
