-- System prompts as they were sent to models, once for each text and list of tools.
CREATE TABLE "execution_prompts" (
    "tenant" INTEGER NOT NULL,
    "hash" BYTEA NOT NULL,
    "text" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "tools" TEXT[] NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "execution_prompts_pkey" PRIMARY KEY ("tenant", "hash")
);

ALTER TABLE "executions"
    ADD COLUMN "agent_revision" INTEGER,
    ADD COLUMN "prompt_hash" BYTEA,
    ADD COLUMN "tool_call_count" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "tool_error_count" INTEGER NOT NULL DEFAULT 0;

UPDATE "executions" e SET "tool_call_count" = s.calls, "tool_error_count" = s.errors
FROM (SELECT x."tenant", x."id", count(*) AS calls, count(*) FILTER (WHERE step->>'status' = 'error') AS errors
      FROM "executions" x, jsonb_array_elements(x."steps") step
      WHERE jsonb_typeof(x."steps") = 'array' AND step->>'kind' = 'tool' GROUP BY 1, 2) s
WHERE e."tenant" = s."tenant" AND e."id" = s."id";

-- Lists of executions read the first rows of each outcome, with and without tool errors, so that no filter reads past rows
-- that it does not match (read-executions.ts has the same expressions).
DROP INDEX "executions_tenant_environment_created_at_idx";
CREATE INDEX "executions_outcome_idx" ON "executions" ("tenant", "environment",
    (CASE WHEN "status" = 'succeeded' AND "output" IS NULL THEN 'stored' WHEN "status" = 'succeeded' THEN 'succeeded'
          WHEN "status" = 'failed' THEN 'failed' ELSE 'open' END), ("tool_error_count" > 0), "id");
CREATE INDEX "executions_agent_outcome_idx" ON "executions" ("tenant", "environment", "agent_slug",
    (CASE WHEN "status" = 'succeeded' AND "output" IS NULL THEN 'stored' WHEN "status" = 'succeeded' THEN 'succeeded'
          WHEN "status" = 'failed' THEN 'failed' ELSE 'open' END), ("tool_error_count" > 0), "id");
-- Finds out whether an execution still needs a prompt.
CREATE INDEX "executions_prompt_idx" ON "executions" ("tenant", "prompt_hash") WHERE "prompt_hash" IS NOT NULL;
