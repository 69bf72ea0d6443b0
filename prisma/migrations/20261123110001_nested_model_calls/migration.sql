-- Counts the model calls of the turns that agent.chat nests in a turn.
ALTER TABLE "executions" ADD COLUMN "nested_model_calls" INTEGER NOT NULL DEFAULT 0;
