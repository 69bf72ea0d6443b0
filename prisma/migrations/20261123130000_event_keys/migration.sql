-- Null until the next push: events then keep all keys, because triggers that are stored may name any of them.
ALTER TABLE "entity_types" ADD COLUMN "event_keys" TEXT[];
