-- A type made by hand may have left them out.
UPDATE "entity_types" SET "search_fields" = coalesce("search_fields", '{}'), "indexed_fields" = coalesce("indexed_fields", '{}')
WHERE "search_fields" IS NULL OR "indexed_fields" IS NULL;

ALTER TABLE "entity_types" ALTER COLUMN "search_fields" SET DEFAULT '{}', ALTER COLUMN "search_fields" SET NOT NULL,
ALTER COLUMN "indexed_fields" SET NOT NULL;

-- Words are folded further than before (ß is ss, ł is l, emoji are words): the worker writes the search vectors anew.
UPDATE "entity_types" SET "indexed_fields" = '{}', "reindex" = NULL WHERE "search_fields" <> '{}';
