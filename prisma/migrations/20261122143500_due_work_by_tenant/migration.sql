-- Due work is looked for tenant by tenant (docs/adr/0035): which tenants have some, and of one tenant the oldest first.
CREATE INDEX "trigger_runs_tenant_due_idx" ON "trigger_runs" ("organization_id", (coalesce("lease_until", "run_at")))
  WHERE "status" IN ('scheduled', 'running');
CREATE INDEX "webhook_deliveries_tenant_due_idx" ON "webhook_deliveries" ((coalesce("organization_id", '')), "received_at", "id")
  WHERE "status" = 'received';

DROP INDEX "emails_pending";
CREATE INDEX "emails_tenant_due_idx" ON "emails" ("organization_id", (coalesce("lease_until", "created_at")), "id")
  WHERE "status" IN ('queued', 'sending');

-- With the first message of each contact or conversation, which the ones behind it wait for.
DROP INDEX "messages_pending";
CREATE INDEX "messages_outbound_due_idx" ON "messages" ("organization_id", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'outbound' AND "status" IN ('queued', 'sending') AND "connection_id" IS NOT NULL;
CREATE INDEX "messages_outbound_lane_idx" ON "messages" ("organization_id", "environment", "contact", "id")
  WHERE "direction" = 'outbound' AND "status" IN ('queued', 'sending') AND "connection_id" IS NOT NULL;
CREATE INDEX "messages_inbound_due_idx" ON "messages" ("organization_id", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'answering') AND "connection_id" IS NOT NULL;
CREATE INDEX "messages_inbound_lane_idx" ON "messages" ("connection_id", "contact", "sent_at", "id")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'answering') AND "connection_id" IS NOT NULL;
