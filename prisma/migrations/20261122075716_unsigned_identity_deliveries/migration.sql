ALTER TABLE "organizations" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "users" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "memberships" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "identity_tombstones" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT true;

ALTER TABLE "webhook_deliveries" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT false;

-- Unsigned deliveries of the identity provider were stored under a digest of their body, signed ones under the provider's id.
UPDATE "webhook_deliveries" SET "signed" = true
WHERE "provider" <> 'flow' AND "status" <> 'rejected' AND NOT ("provider" = 'clerk' AND "delivery_id" LIKE 'body-%');

ALTER TABLE "organization_purges" ADD COLUMN "signed" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN "started_at" TIMESTAMPTZ(3),
ADD COLUMN "stopped_at" TIMESTAMPTZ(3);
