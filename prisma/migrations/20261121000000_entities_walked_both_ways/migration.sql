-- Both columns ascending: only then can PostgreSQL take (part, pos) as one condition (docs/adr/0003).
DROP INDEX "entities_part_pos_key";
CREATE UNIQUE INDEX "entities_part_pos_key" ON "entities"("part", "pos");
