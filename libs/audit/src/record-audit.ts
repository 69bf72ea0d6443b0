import type { Caller, Environment, JsonObject } from '@parley/contracts';
import { type Queryable, type Tenant, statement } from '@parley/db';

/** Who did something, and from where. */
export interface AuditSource {
  actor: {
    type: 'api_key' | 'person' | 'command' | 'webhook' | 'system';
    id: string | null;
    name: string | null;
  };
  address?: string | null;
  requestId?: string | null;
}

/**
 * What was done: `action` is the type of the resource and a verb in the past tense, such as
 * `api_key.created`.
 */
export interface AuditEntry {
  action: string;
  target?: { type: string; id: string };
  /** The changed fields, without secrets. */
  before?: JsonObject;
  after?: JsonObject;
}

/** A larger document of an entry is replaced by its size: UTF-16 code units of JSON. */
const maxLength = 32_768;

const insert = statement(
  'record-audit',
  `insert into audit_log
     (tenant, environment, action, actor_type, actor_id, actor_name, address, target_type, target_id, before, after, request_id)
   values ($tenant, $environment::"Environment", $action, $actorType, $actorId, $actorName, $address, $targetType,
     $targetId, $before::jsonb, $after::jsonb, $requestId)`,
);

/**
 * Adds an entry, in the transaction of the change. `environment`: null for a change of the
 * whole organization.
 */
export async function recordAudit(
  tx: Queryable,
  scope: Tenant & { environment: Environment | null },
  { actor, address, requestId }: AuditSource,
  { action, target, before, after }: AuditEntry,
): Promise<void> {
  await tx.query(scope, insert, {
    environment: scope.environment,
    action,
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    address: address || null,
    targetType: target?.type ?? null,
    targetId: target?.id ?? null,
    before: documentOf(before),
    after: documentOf(after),
    requestId: requestId ?? null,
  });
}

function documentOf(fields: JsonObject | undefined): string | null {
  if (fields === undefined) return null;
  const text = JSON.stringify(fields);
  return text.length <= maxLength ? text : JSON.stringify({ omitted: `${text.length} characters` });
}

/** The parts of a request that the source of an entry needs. */
export interface AuditedRequest {
  caller: Caller;
  request: { socket: { remoteAddress?: string } };
  requestId: string;
}

/** The caller of a request, and the address of its client. `addressOf` respects trusted proxies. */
export function auditSourceOf<R extends AuditedRequest>(
  { caller, request, requestId }: R,
  addressOf?: (request: R['request']) => string,
): AuditSource {
  const { type, id } = caller;
  const name = caller.type === 'person' ? auditedName(caller) : caller.name;
  return {
    actor: { type, id, name },
    address: addressOf?.(request) ?? request.socket.remoteAddress,
    requestId,
  };
}

/**
 * What the log calls a person: the e-mail address, because people choose their names. One that is
 * not proved has a mark.
 */
export function auditedName(person: {
  name: string;
  email: string | null;
  isEmailProved: boolean;
}): string {
  if (person.email === null) return person.name;
  return person.isEmailProved ? person.email : `${person.email} (not confirmed)`;
}
