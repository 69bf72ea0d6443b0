-- AlterTable
ALTER TABLE "channel_connections" ADD COLUMN     "secret_fingerprint" TEXT,
ADD COLUMN     "webhook_attempts" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "webhook_try_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "shared_messaging_secrets" (
    "fingerprint" TEXT NOT NULL,
    "noted_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "shared_messaging_secrets_pkey" PRIMARY KEY ("fingerprint")
);

-- Connections with a webhook were registered with MESSAGING_WEBHOOK_SECRET itself, so organizations know it, those whose
-- number was disconnected (their messages stay without a connection) included. Only the worker can name that secret.
INSERT INTO "shared_messaging_secrets" ("fingerprint")
SELECT '' WHERE EXISTS (SELECT FROM "channel_connections" WHERE "webhook_id" IS NOT NULL)
             OR EXISTS (SELECT FROM "messages" WHERE "connection_id" IS NULL);

-- The previous version refuses derived signatures: its processes have 10 minutes to leave before webhooks are registered again.
UPDATE "channel_connections" SET "webhook_try_at" = now() + interval '10 minutes' WHERE "webhook_id" IS NOT NULL;
