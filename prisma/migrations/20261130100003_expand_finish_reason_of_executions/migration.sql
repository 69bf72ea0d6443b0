-- Why the answer of a turn ended (docs/reference/chat.md#how-answers-end). Null: the turn is older, runs, or was ended by a person.
ALTER TABLE "executions" ADD COLUMN "finish_reason" TEXT;
