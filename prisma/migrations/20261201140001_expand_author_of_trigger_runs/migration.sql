-- Who fired the trigger by hand. Null: the run was started by an event or a schedule, or is older.
ALTER TABLE "trigger_runs" ADD COLUMN "author" JSONB;
