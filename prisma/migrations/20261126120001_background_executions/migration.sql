ALTER TABLE "executions" ADD COLUMN "background" JSONB, ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 0;

-- Executions that the worker has to run, by the time from which they are due (background/execution-queue.ts).
CREATE INDEX "executions_background_idx" ON "executions" ("tenant", (coalesce("lease_until", "created_at")), "id")
    WHERE "background" IS NOT NULL AND "status" IN ('queued', 'running');
