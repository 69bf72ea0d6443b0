-- How often a run was taken from a worker that was not heard of again. The fence also counts claims after a release, which
-- are nobody's fault.
ALTER TABLE "trigger_runs" ADD COLUMN "takeovers" INTEGER NOT NULL DEFAULT 0;
