-- Until when a visitor of a thread counts as writing a reply.
ALTER TABLE "thread_visits" ADD COLUMN "typing_until" TIMESTAMPTZ(3);
