-- What must be unique about a payment, and what finds it without its tenant (docs/adr/0024). The payment itself is an
-- entity of type `payment`.
CREATE TABLE "payment_orders" (
    "payment_id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "call_key" TEXT,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "lease_until" TIMESTAMPTZ(3),
    "flow_token" TEXT,
    "closed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payment_orders_pkey" PRIMARY KEY ("payment_id")
);

-- How far the reconciliation of an integration has come: it goes on there at the next run.
CREATE TABLE "payment_reconciliations" (
    "integration_id" TEXT NOT NULL,
    "cursor" TEXT,
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "problem" TEXT,

    CONSTRAINT "payment_reconciliations_pkey" PRIMARY KEY ("integration_id")
);

CREATE UNIQUE INDEX "payment_orders_flow_token_key" ON "payment_orders"("flow_token");

CREATE UNIQUE INDEX "payment_orders_organization_id_environment_call_key_key" ON "payment_orders"("organization_id", "environment", "call_key");

ALTER TABLE "payment_orders" ADD CONSTRAINT "payment_orders_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "payment_reconciliations" ADD CONSTRAINT "payment_reconciliations_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "integrations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Payments whose link is still being made, or whose making was cut short. Prisma has no words for a partial index.
CREATE INDEX "payment_orders_open_idx" ON "payment_orders" ("organization_id", "environment", "created_at") WHERE "closed_at" IS NULL;
