import type { Environment, JsonObject, Scope } from '@parley/contracts';
import {
  type Page,
  type Paged,
  type Queryable,
  type RowOf,
  column,
  listStatement,
  toPaged,
} from '@parley/db';
import type { AuditSource } from './record-audit';

const entryRow = {
  id: column.text,
  action: column.text,
  actorType: column.oneOf<AuditSource['actor']['type']>(),
  actorId: column.text.nullable,
  actorName: column.text.nullable,
  address: column.text.nullable,
  environment: column.oneOf<Environment>().nullable,
  targetType: column.text.nullable,
  targetId: column.text.nullable,
  before: column.jsonb<JsonObject>().nullable,
  after: column.jsonb<JsonObject>().nullable,
  requestId: column.text.nullable,
  createdAt: column.timestamptz,
};

const list = listStatement(
  'list-audit-log',
  `select id::text, action, actor_type as "actorType", actor_id as "actorId", actor_name as "actorName", address,
          environment::text as environment, target_type as "targetType", target_id as "targetId", before, after,
          request_id as "requestId", created_at as "createdAt"
   from audit_log
   where tenant = $tenant and (environment is null or environment = $environment::"Environment")
     and ($action::text is null or action = $action) and ($actorId::text is null or actor_id = $actorId)
       and ($targetId::text is null or target_id = $targetId)
     and ($since::timestamptz is null or created_at >= $since) and ($beforeId::bigint is null or id < $beforeId)
   order by audit_log.id desc limit $limit`,
  entryRow,
);

export interface AuditFilter {
  action?: string;
  actorId?: string;
  targetId?: string;
  since?: Date;
}

/** The entries of an environment and of the whole organization, newest first. */
export async function listAuditLog(
  db: Queryable,
  scope: Scope,
  { action, actorId, targetId, since, ...page }: Page & AuditFilter,
): Promise<Paged<RowOf<typeof entryRow>>> {
  const values = {
    environment: scope.environment,
    action,
    actorId,
    targetId,
    since,
    beforeId: page.before?.id,
    limit: page.limit + 1,
  };
  const { rows } = await db.query(scope, list, values);
  return toPaged(rows, page, ({ createdAt, id }) => ({ at: createdAt, id }));
}
