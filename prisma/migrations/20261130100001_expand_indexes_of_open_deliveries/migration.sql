-- Indexes of open work that serve the statements on their key only (docs/adr/0081). The index of the status leaves open deliveries out:
-- without statistics of them, PostgreSQL read all of them by their status, for each tenant.
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_due_idx";
CREATE INDEX CONCURRENTLY "webhook_deliveries_due_idx" ON "webhook_deliveries" ((coalesce("tenant", 0)), "received_at", "id")
  WHERE "status" = 'received' AND coalesce("tenant", 0) IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_ended_idx";
CREATE INDEX CONCURRENTLY "webhook_deliveries_ended_idx" ON "webhook_deliveries" ("status", "received_at") WHERE "status" <> 'received';
DROP INDEX CONCURRENTLY IF EXISTS "emails_due_idx";
CREATE INDEX CONCURRENTLY "emails_due_idx" ON "emails" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "status" IN ('queued', 'sending') AND coalesce("lease_until", "created_at") IS NOT NULL;
