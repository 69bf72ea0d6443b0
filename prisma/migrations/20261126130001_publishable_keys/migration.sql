-- Keys that a web page may show: each opens one agent or router to visitors of the listed origins.
CREATE TABLE "publishable_keys" (
    "id" TEXT NOT NULL,
    "tenant" INTEGER NOT NULL,
    "environment" "Environment" NOT NULL,
    "name" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "agent_slug" TEXT,
    "router_slug" TEXT,
    "origins" TEXT[] NOT NULL,
    "per_visitor" INTEGER NOT NULL,
    "per_address" INTEGER NOT NULL,
    "per_key" INTEGER NOT NULL,
    "secret" BYTEA NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "publishable_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "publishable_keys_one_answerer" CHECK (num_nonnulls("agent_slug", "router_slug") = 1)
);

CREATE UNIQUE INDEX "publishable_keys_key_key" ON "publishable_keys"("key");
CREATE INDEX "publishable_keys_tenant_environment_idx" ON "publishable_keys"("tenant", "environment");

ALTER TABLE "publishable_keys" ADD CONSTRAINT "publishable_keys_tenant_fkey" FOREIGN KEY ("tenant") REFERENCES "organizations"("no") ON DELETE CASCADE ON UPDATE CASCADE;
