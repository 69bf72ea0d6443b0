-- Replaced by the indexes of the previous migration. A contraction: sweeps of earlier versions need those of due work.
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_lane_idx";
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_open_idx";
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_tenant_due_idx";
DROP INDEX CONCURRENTLY IF EXISTS "trigger_runs_leased_idx";
DROP INDEX CONCURRENTLY IF EXISTS "executions_unfinished_idx";
DROP INDEX CONCURRENTLY IF EXISTS "executions_background_idx";
DROP INDEX CONCURRENTLY IF EXISTS "messages_inbound_lane_idx";
DROP INDEX CONCURRENTLY IF EXISTS "messages_inbound_due_idx";
DROP INDEX CONCURRENTLY IF EXISTS "messages_outbound_due_idx";
