-- The threads that a person looks after. Most threads have none.
CREATE INDEX "threads_assigned_idx" ON "threads" ("tenant", "environment", "assignee_id", "last_message_at" DESC, "id" DESC)
    WHERE "assignee_id" IS NOT NULL;
