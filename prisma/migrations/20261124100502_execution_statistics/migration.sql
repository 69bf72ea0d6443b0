-- Figures of the executions of each hour, and the hour up to which they are complete (docs/adr/0058).
CREATE TABLE "execution_statistics" (
    "tenant" INTEGER NOT NULL,
    "environment" "Environment" NOT NULL,
    "agent_slug" TEXT NOT NULL,
    "channel" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "messages" INTEGER NOT NULL,
    "executions" INTEGER NOT NULL,
    "failures" INTEGER NOT NULL,
    "input_tokens" BIGINT NOT NULL,
    "output_tokens" BIGINT NOT NULL,
    "tool_calls" INTEGER NOT NULL,
    "tool_errors" INTEGER NOT NULL,
    "durations" INTEGER[] NOT NULL,

    CONSTRAINT "execution_statistics_pkey" PRIMARY KEY ("tenant", "environment", "agent_slug", "channel", "hour")
);

CREATE TABLE "execution_rollups" (
    "tenant" INTEGER NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "execution_rollups_pkey" PRIMARY KEY ("tenant")
);
