-- Secrets of custom tools, encrypted under SECRETS_KEY.
CREATE TABLE "tool_secrets" (
    "tenant" INTEGER NOT NULL,
    "environment" "Environment" NOT NULL,
    "name" TEXT NOT NULL,
    "value" BYTEA NOT NULL,
    "set_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "tool_secrets_pkey" PRIMARY KEY ("tenant", "environment", "name")
);
