-- DropForeignKey
ALTER TABLE "entities" DROP CONSTRAINT "entities_type_id_fkey";

-- DropIndex
DROP INDEX "entities_type_id_created_at_id_idx";

-- DropIndex
DROP INDEX "events_organization_id_environment_entity_id_idx";

-- AlterTable
ALTER TABLE "entity_types" ADD COLUMN     "indexed_fields" TEXT[] DEFAULT ARRAY[]::TEXT[],
ADD COLUMN     "no" SERIAL NOT NULL,
ADD COLUMN     "reindex" JSONB,
ADD COLUMN     "segment" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "segment_floor" BIGINT NOT NULL DEFAULT 0;

-- Rows of before this layout cannot be placed in it, and no release had them.
TRUNCATE "entities";

-- AlterTable
ALTER TABLE "entities" DROP COLUMN "type_id",
ADD COLUMN     "part" INTEGER NOT NULL,
ADD COLUMN     "pos" BIGINT NOT NULL,
ADD COLUMN     "search" tsvector,
ADD COLUMN     "segment" INTEGER NOT NULL,
ALTER COLUMN "status" DROP DEFAULT;

-- AlterTable
ALTER TABLE "idempotency_records" ADD COLUMN "entity_id" TEXT;

-- CreateTable
CREATE TABLE "entity_fields" (
    "part" INTEGER NOT NULL,
    "segment" INTEGER NOT NULL,
    "field" INTEGER NOT NULL,
    "value" BYTEA NOT NULL,
    "pos" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "entity_shapes" (
    "type_no" INTEGER NOT NULL,
    "shape" BYTEA NOT NULL,
    "fields" INTEGER[],

    CONSTRAINT "entity_shapes_pkey" PRIMARY KEY ("type_no","shape")
);

-- CreateIndex
CREATE INDEX "entity_fields_part_segment_field_value_pos_idx" ON "entity_fields"("part", "segment", "field", "value", "pos");

-- CreateIndex
CREATE UNIQUE INDEX "entity_types_no_key" ON "entity_types"("no");

-- CreateIndex
CREATE UNIQUE INDEX "entities_part_pos_key" ON "entities"("part", "pos" DESC);

-- CreateIndex
CREATE INDEX "events_entity_id_id_idx" ON "events"("entity_id", "id");

-- Below: what Prisma cannot express. The engine splits statements at every semicolon, so function bodies hold none.

-- Tie-break of entities made in the same millisecond, its last 21 bits are used (docs/adr/0003).
CREATE SEQUENCE "entity_sequence" CACHE 1;

-- Every word carries its type's number, so that a tenant never reads another tenant's lists. The pending list is kept
-- short because every search reads it.
CREATE INDEX "entities_search_idx" ON "entities" USING gin ("search") WITH (fastupdate = on, gin_pending_list_limit = 128);

-- The payment provider's notification names nothing but this token: its lookup is the only one across tenants.
CREATE INDEX "entities_flow_token_idx" ON "entities" (("data" ->> 'flowToken')) WHERE ("data" ->> 'flowToken') IS NOT NULL;

CREATE INDEX "events_unrelayed_idx" ON "events" ("id") WHERE "relayed_at" IS NULL;

-- Index-only scans need the visibility map to follow the inserts.
ALTER TABLE "entity_fields" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE "entities" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);

-- A JSON value as bytes that sort like it: null, false, true, numbers, strings by code point, objects and arrays.
-- The same as encodeValue in libs/entities, which a test compares.
CREATE FUNCTION "entity_index_key"("value" jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT CASE jsonb_typeof(value)
    WHEN 'null' THEN '\x10'::bytea
    WHEN 'boolean' THEN CASE WHEN value = 'true' THEN '\x21'::bytea ELSE '\x20'::bytea END
    WHEN 'number' THEN '\x30'::bytea || CASE WHEN value::numeric >= 0
      THEN set_byte(float8send(value::float8), 0, get_byte(float8send(value::float8), 0) | 128)
      ELSE int8send(~ (('x' || encode(float8send(value::float8), 'hex'))::bit(64)::int8)) END
    WHEN 'string' THEN '\x40'::bytea || substr(convert_to(value #>> '{}', 'UTF8'), 1, 100)
    ELSE '\x50'::bytea END
$$;
