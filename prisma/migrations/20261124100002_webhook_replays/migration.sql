-- The last replay that reset a delivery, by which its progress is counted.
ALTER TABLE "webhook_deliveries" ADD COLUMN "replay_id" TEXT;
CREATE INDEX "webhook_deliveries_tenant_replay_id_idx" ON "webhook_deliveries"("tenant", "replay_id") WHERE "replay_id" IS NOT NULL;
