-- Which changes of a type an enabled trigger may follow: the statement that writes an event reads it from the type's row.
ALTER TABLE "entity_types" ADD COLUMN "relayed_actions" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

UPDATE "entity_types" t SET "relayed_actions" = f.actions
FROM (SELECT organization_id, environment, entity_type, array_agg(DISTINCT action ORDER BY action) AS actions
      FROM "triggers" WHERE enabled AND entity_type IS NOT NULL GROUP BY 1, 2, 3) f
WHERE t.organization_id = f.organization_id AND t.environment = f.environment AND t.slug = f.entity_type;

DROP TRIGGER "event_to_relay" ON "events";
DROP FUNCTION "event_to_relay"();

-- Relays read by organization, so that a long backlog of one keeps nobody else waiting.
DROP INDEX "events_unrelayed_idx";
CREATE INDEX "events_unrelayed_idx" ON "events" ("organization_id", "id") WHERE "relayed_at" IS NULL;
