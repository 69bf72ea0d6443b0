-- A session that does not end by not being used.
ALTER TABLE "sessions" ADD COLUMN "is_kept" BOOLEAN NOT NULL DEFAULT false;
