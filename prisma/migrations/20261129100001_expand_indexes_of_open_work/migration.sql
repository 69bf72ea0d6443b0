-- Each index of open work ends with a condition that is true for all its rows. It keeps PostgreSQL from reading the whole index
-- for statements about other keys (docs/adr/0081).
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_of_entity_idx";
CREATE INDEX CONCURRENTLY "trigger_runs_of_entity_idx" ON "trigger_runs" ("entity_id", "event_id")
  WHERE "status" IN ('scheduled', 'running') AND "entity_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_due_of_tenant_idx";
CREATE INDEX CONCURRENTLY "trigger_runs_due_of_tenant_idx" ON "trigger_runs" ("tenant", (coalesce("lease_until", "run_at")))
  WHERE "status" IN ('scheduled', 'running') AND coalesce("lease_until", "run_at") IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_running_idx";
CREATE INDEX CONCURRENTLY "trigger_runs_running_idx" ON "trigger_runs" ("lease_until")
  WHERE "status" = 'running' AND "lease_until" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "executions_of_thread_idx";
CREATE INDEX CONCURRENTLY "executions_of_thread_idx" ON "executions" ("thread_id", "id")
  WHERE "status" IN ('queued', 'running') AND "thread_id" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "executions_due_idx";
CREATE INDEX CONCURRENTLY "executions_due_idx" ON "executions" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "background" IS NOT NULL AND "status" IN ('queued', 'running') AND coalesce("lease_until", "created_at") IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "messages_of_contact_idx";
CREATE INDEX CONCURRENTLY "messages_of_contact_idx" ON "messages" ("connection_id", "contact", "sent_at", "id")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'answering') AND "connection_id" IS NOT NULL AND "contact" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "messages_due_inbound_idx";
CREATE INDEX CONCURRENTLY "messages_due_inbound_idx" ON "messages" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'answering') AND "connection_id" IS NOT NULL
    AND coalesce("lease_until", "created_at") IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "messages_due_outbound_idx";
CREATE INDEX CONCURRENTLY "messages_due_outbound_idx" ON "messages" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'outbound' AND "status" IN ('queued', 'sending') AND "connection_id" IS NOT NULL
    AND coalesce("lease_until", "created_at") IS NOT NULL;
