-- What people, keys and commands changed. Rows are added and never updated.
CREATE TABLE "audit_log" (
    "id" BIGINT NOT NULL DEFAULT time_id(),
    "tenant" INTEGER NOT NULL,
    "environment" "Environment",
    "action" TEXT NOT NULL,
    "actor_type" TEXT NOT NULL,
    "actor_id" TEXT,
    "actor_name" TEXT,
    "address" TEXT,
    "target_type" TEXT,
    "target_id" TEXT,
    "before" JSONB,
    "after" JSONB,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("tenant", "id")
);

CREATE INDEX "audit_log_tenant_target_id_id_idx" ON "audit_log"("tenant", "target_id", "id");
CREATE INDEX "audit_log_tenant_actor_id_id_idx" ON "audit_log"("tenant", "actor_id", "id");
CREATE INDEX "audit_log_tenant_action_id_idx" ON "audit_log"("tenant", "action", "id");
