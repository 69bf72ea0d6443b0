-- What began a chain of triggers, on its events and runs, and the one record of the runs that a limit of the chain refused.
ALTER TABLE "events" ADD COLUMN "root" TEXT;
ALTER TABLE "trigger_runs" ADD COLUMN "root" TEXT, ADD COLUMN "refused_runs" INTEGER NOT NULL DEFAULT 0;
CREATE INDEX "trigger_runs_root_idx" ON "trigger_runs" ("tenant", "root") WHERE "root" IS NOT NULL AND "refused_runs" = 0;
