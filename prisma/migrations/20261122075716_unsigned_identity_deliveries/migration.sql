-- First, as the other tables are locked until the end: the default gives `true` to most deliveries without writing them.
-- Unsigned deliveries of the identity provider were stored under a digest of their body, signed ones under the provider's id.
ALTER TABLE "webhook_deliveries" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT true;

UPDATE "webhook_deliveries" SET "signed" = false
WHERE "provider" = 'flow' OR "status" = 'rejected' OR ("provider" = 'clerk' AND "delivery_id" LIKE 'body-%');

ALTER TABLE "webhook_deliveries" ALTER COLUMN "signed" SET DEFAULT false;

ALTER TABLE "organizations" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "users" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "memberships" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "identity_tombstones" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT true;

ALTER TABLE "organization_purges" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN "started_at" TIMESTAMPTZ(3),
ADD COLUMN "stopped_at" TIMESTAMPTZ(3);
