-- Files of messages: what contacts send, fetched once, and what people attach to replies. Deleted with their message.
CREATE TABLE "blobs" (
    "id" TEXT NOT NULL,
    "tenant" INTEGER NOT NULL,
    "environment" "Environment" NOT NULL,
    "status" TEXT NOT NULL,
    "url" TEXT,
    "filename" TEXT,
    "content_type" TEXT,
    "bytes" BYTEA,
    "error" TEXT,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "blobs_pkey" PRIMARY KEY ("id", "tenant"),
    CONSTRAINT "blobs_id_tenant_fkey" FOREIGN KEY ("id", "tenant") REFERENCES "messages"("id", "tenant") ON DELETE CASCADE ON UPDATE CASCADE
);
-- Pictures and sound are compressed already.
ALTER TABLE "blobs" ALTER COLUMN "bytes" SET STORAGE EXTERNAL;
CREATE INDEX "blobs_due_idx" ON "blobs" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "status" IN ('pending', 'fetching');

ALTER TABLE "messages" ADD COLUMN "origin" TEXT;

-- Lists of messages and e-mails: all of them, and those with a status, such as the few that failed.
CREATE INDEX "messages_tenant_environment_created_at_id_idx" ON "messages"("tenant", "environment", "created_at" DESC, "id" DESC);
CREATE INDEX "messages_tenant_environment_status_created_at_id_idx" ON "messages"("tenant", "environment", "status", "created_at" DESC, "id" DESC);
CREATE INDEX "messages_tenant_thread_id_created_at_id_idx" ON "messages"("tenant", "thread_id", "created_at" DESC, "id" DESC);
CREATE INDEX "emails_tenant_environment_created_at_id_idx" ON "emails"("tenant", "environment", "created_at" DESC, "id" DESC);
CREATE INDEX "emails_tenant_environment_status_created_at_id_idx" ON "emails"("tenant", "environment", "status", "created_at" DESC, "id" DESC);
