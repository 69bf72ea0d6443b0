-- The health report counts what failed without reading what succeeded.
CREATE INDEX "messages_undelivered_idx" ON "messages" ("tenant", "environment", "created_at") WHERE "status" IN ('failed', 'unknown');
CREATE INDEX "emails_undelivered_idx" ON "emails" ("tenant", "environment", "created_at") WHERE "status" IN ('failed', 'unknown', 'bounced');
CREATE INDEX "webhook_deliveries_failed_idx" ON "webhook_deliveries" ("tenant", "received_at") WHERE "status" IN ('failed', 'unattributed');
