-- The turns of a thread that are not over, for the check that every turn makes before it starts: without this index a
-- long thread would be read from its beginning each time. Prisma has no words for a partial index.
CREATE INDEX "executions_unfinished_idx" ON "executions" ("thread_id", "id") WHERE "status" IN ('queued', 'running');
