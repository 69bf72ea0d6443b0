-- What was deleted at the identity provider stays deleted, however late an older event arrives.
CREATE TABLE "identity_tombstones" (
    "kind" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "deleted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "identity_tombstones_pkey" PRIMARY KEY ("kind", "external_id")
);

-- A status may come before the answer to the sending that it tells of: it is kept until the message has its id.
CREATE TABLE "provider_statuses" (
    "provider" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "rank" INTEGER NOT NULL,
    "error" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "provider_statuses_pkey" PRIMARY KEY ("provider", "external_id")
);
CREATE INDEX "provider_statuses_updated_at_idx" ON "provider_statuses"("updated_at");

-- Messages outlive their connection.
ALTER TABLE "messages" DROP CONSTRAINT "messages_connection_id_fkey";
ALTER TABLE "messages" ALTER COLUMN "connection_id" DROP NOT NULL;
ALTER TABLE "messages" ADD CONSTRAINT "messages_connection_id_fkey"
  FOREIGN KEY ("connection_id") REFERENCES "channel_connections"("id") ON DELETE SET NULL ON UPDATE CASCADE;

ALTER TABLE "messages"
  ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "lease_owner" TEXT,
  ADD COLUMN "lease_until" TIMESTAMPTZ(3);
-- Only what is still to be done: answers to write, messages to send.
CREATE INDEX "messages_pending" ON "messages"("direction", "lease_until")
  WHERE "status" IN ('received', 'answering', 'queued', 'sending');

ALTER TABLE "emails"
  ADD COLUMN "payload" JSONB,
  ADD COLUMN "attempts" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "lease_owner" TEXT,
  ADD COLUMN "lease_until" TIMESTAMPTZ(3);
CREATE INDEX "emails_pending" ON "emails"("lease_until") WHERE "status" IN ('queued', 'sending');
