-- Held work is listed and released without reading tables with a long history. A new value of an enum cannot be used in the
-- transaction that adds it.
CREATE INDEX "messages_held_idx" ON "messages" ("tenant") WHERE "status" = 'held';
CREATE INDEX "emails_held_idx" ON "emails" ("tenant") WHERE "status" = 'held';
CREATE INDEX "trigger_runs_held_idx" ON "trigger_runs" ("tenant") WHERE "status" = 'held';
CREATE INDEX "webhook_deliveries_held_idx" ON "webhook_deliveries" ("tenant") WHERE "status" = 'held';
CREATE INDEX "events_held_idx" ON "events" ("tenant") WHERE "relayed_at" = '9999-01-01T00:00:00Z';
