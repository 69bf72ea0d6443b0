-- Replaced by the indexes of the previous migration. A contraction: sweeps of earlier versions need them.
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_tenant_due_idx";
DROP INDEX CONCURRENTLY IF EXISTS "webhook_deliveries_status_received_at_idx";
DROP INDEX CONCURRENTLY IF EXISTS "emails_tenant_due_idx";
