-- Entities from this position on have no entries in "entity_fields" yet (docs/adr/0073). A contraction: earlier versions, which
-- find entities by their entries alone, would not find the newest ones.
ALTER TABLE "entity_types" ADD COLUMN "indexed_to" BIGINT NOT NULL DEFAULT 0;
-- Those that exist are indexed.
UPDATE "entity_types" SET "indexed_to" = greatest("segment_floor", (extract(epoch from now()) * 1000)::bigint) << 21;
