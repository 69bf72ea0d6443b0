-- Entities from this position on have no entries in "entity_fields" yet (docs/adr/0073). A contraction: earlier versions, which
-- find entities by their entries alone, would not find the newest ones.
ALTER TABLE "entity_types" ADD COLUMN "indexed_to" BIGINT NOT NULL DEFAULT 0;
-- Those that exist are indexed. New ones begin a segment.
UPDATE "entity_types" t SET "segment" = t."segment" + 1, "segment_floor" = n."floor", "indexed_to" = n."floor" << 21
FROM (
  SELECT "tenant", "no", 1 + greatest("segment_floor", (extract(epoch from clock_timestamp()) * 1000)::bigint) AS "floor" FROM "entity_types"
) n WHERE n."tenant" = t."tenant" AND n."no" = t."no";
