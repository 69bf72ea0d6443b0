-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Environment" AS ENUM ('development', 'production');

-- CreateEnum
CREATE TYPE "MembershipRole" AS ENUM ('admin', 'member');

-- CreateEnum
CREATE TYPE "TriggerRunStatus" AS ENUM ('scheduled', 'running', 'succeeded', 'dead', 'cancelled');

-- CreateEnum
CREATE TYPE "ExecutionStatus" AS ENUM ('queued', 'running', 'succeeded', 'failed');

-- CreateEnum
CREATE TYPE "MessageRole" AS ENUM ('user', 'assistant', 'tool');

-- CreateEnum
CREATE TYPE "ToolCallStatus" AS ENUM ('started', 'succeeded', 'failed');

-- CreateEnum
CREATE TYPE "ConnectionStatus" AS ENUM ('pending', 'connected');

-- CreateEnum
CREATE TYPE "MessageDirection" AS ENUM ('inbound', 'outbound');

-- CreateEnum
CREATE TYPE "DeliveryStatus" AS ENUM ('received', 'processed', 'ignored', 'failed', 'unattributed', 'rejected');

-- CreateTable
CREATE TABLE "organizations" (
    "id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "external_id" TEXT,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "settings" JSONB NOT NULL DEFAULT '{}',
    "external_updated_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "organizations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "id" TEXT NOT NULL,
    "external_id" TEXT NOT NULL,
    "email" TEXT,
    "first_name" TEXT,
    "last_name" TEXT,
    "external_updated_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "memberships" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "role" "MembershipRole" NOT NULL,
    "external_id" TEXT,
    "external_updated_at" TIMESTAMPTZ(3),
    "deleted_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "name" TEXT NOT NULL,
    "hash" BYTEA NOT NULL,
    "prefix" TEXT NOT NULL,
    "permissions" TEXT[],
    "role" TEXT,
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_records" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "api_key_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" BYTEA NOT NULL,
    "status" INTEGER,
    "body" TEXT,
    "locked_until" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "environment_states" (
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 0,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "environment_states_pkey" PRIMARY KEY ("organization_id","environment")
);

-- CreateTable
CREATE TABLE "agents" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "agent_configs" (
    "id" TEXT NOT NULL,
    "agent_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "definition" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "agent_configs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "routers" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "definition" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "routers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "roles" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "definition" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "roles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tools" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "definition" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tools_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "triggers" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "entity_type" TEXT,
    "action" TEXT,
    "definition" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "triggers_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trigger_runs" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "trigger_slug" TEXT NOT NULL,
    "cause" TEXT NOT NULL,
    "entity_id" TEXT,
    "status" "TriggerRunStatus" NOT NULL DEFAULT 'scheduled',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "max_attempts" INTEGER NOT NULL DEFAULT 1,
    "hops" INTEGER NOT NULL DEFAULT 0,
    "run_at" TIMESTAMPTZ(3) NOT NULL,
    "lease_until" TIMESTAMPTZ(3),
    "context" JSONB NOT NULL,
    "steps" JSONB NOT NULL DEFAULT '[]',
    "error" TEXT,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "trigger_runs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entity_types" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "revision" INTEGER NOT NULL DEFAULT 1,
    "schema" JSONB NOT NULL,
    "search_fields" TEXT[],
    "display_config" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "entity_types_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entities" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "type_id" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'active',
    "data" JSONB NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "entities_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "entity_relations" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "relation" TEXT NOT NULL,
    "from_id" TEXT NOT NULL,
    "to_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "entity_relations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "events" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "type" TEXT NOT NULL,
    "entity_type" TEXT,
    "entity_id" TEXT,
    "payload" JSONB NOT NULL,
    "actor" JSONB NOT NULL,
    "hops" INTEGER NOT NULL DEFAULT 0,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "relayed_at" TIMESTAMPTZ(3),

    CONSTRAINT "events_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "threads" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "external_id" TEXT,
    "channel" TEXT NOT NULL DEFAULT 'api',
    "agent_slug" TEXT,
    "params" JSONB NOT NULL DEFAULT '{}',
    "agent_paused" BOOLEAN NOT NULL DEFAULT false,
    "transfer_count" INTEGER NOT NULL DEFAULT 0,
    "last_message_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "threads_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "executions" (
    "id" BIGSERIAL NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "thread_id" TEXT NOT NULL,
    "agent_slug" TEXT,
    "router_slug" TEXT,
    "status" "ExecutionStatus" NOT NULL DEFAULT 'queued',
    "lease_owner" TEXT,
    "lease_until" TIMESTAMPTZ(3),
    "input" TEXT NOT NULL,
    "output" TEXT,
    "model" TEXT,
    "iterations" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "reasoning_tokens" INTEGER,
    "steps" JSONB NOT NULL DEFAULT '[]',
    "error" TEXT,
    "request_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "executions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "thread_messages" (
    "id" TEXT NOT NULL,
    "thread_id" TEXT NOT NULL,
    "execution_id" BIGINT NOT NULL,
    "position" INTEGER NOT NULL,
    "role" "MessageRole" NOT NULL,
    "content" TEXT NOT NULL,
    "tool_calls" JSONB,
    "tool_call_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "thread_messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_calls" (
    "execution_id" BIGINT NOT NULL,
    "call_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "args" JSONB NOT NULL,
    "status" "ToolCallStatus" NOT NULL DEFAULT 'started',
    "result" JSONB,
    "started_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("execution_id","call_id")
);

-- CreateTable
CREATE TABLE "integrations" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "provider" TEXT NOT NULL,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "config" JSONB NOT NULL DEFAULT '{}',
    "secrets" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "integrations_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "channel_connections" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" TEXT NOT NULL DEFAULT 'whatsapp',
    "external_customer_id" TEXT,
    "phone_number_id" TEXT,
    "phone_number" TEXT,
    "status" "ConnectionStatus" NOT NULL DEFAULT 'pending',
    "agent_slug" TEXT,
    "router_slug" TEXT,
    "webhook_id" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "channel_connections_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "contact_aliases" (
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "channel" TEXT NOT NULL,
    "alias" TEXT NOT NULL,
    "contact_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "contact_aliases_pkey" PRIMARY KEY ("organization_id","environment","channel","alias")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "connection_id" TEXT NOT NULL,
    "direction" "MessageDirection" NOT NULL,
    "message_id" TEXT,
    "contact" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "text" TEXT,
    "media_url" TEXT,
    "payload" JSONB NOT NULL,
    "thread_id" TEXT,
    "status" TEXT NOT NULL,
    "error" TEXT,
    "idempotency_key" TEXT,
    "sent_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "emails" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "environment" "Environment" NOT NULL,
    "provider_id" TEXT,
    "idempotency_key" TEXT NOT NULL,
    "from" TEXT NOT NULL,
    "to" TEXT[],
    "subject" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "emails_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "processed_payments" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "order_id" TEXT NOT NULL,
    "credited_cents" INTEGER NOT NULL DEFAULT 0,
    "refunded_cents" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "processed_payments_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "credit_entries" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "amount_cents" INTEGER NOT NULL,
    "reason" TEXT NOT NULL,
    "cause" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "credit_entries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "delivery_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "event_type" TEXT,
    "headers" JSONB NOT NULL,
    "body" BYTEA NOT NULL,
    "organization_id" TEXT,
    "environment" "Environment",
    "status" "DeliveryStatus" NOT NULL DEFAULT 'received',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "reason" TEXT,
    "received_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "processed_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "organization_purges" (
    "id" TEXT NOT NULL,
    "organization_id" TEXT NOT NULL,
    "run_at" TIMESTAMPTZ(3) NOT NULL,
    "report" JSONB NOT NULL DEFAULT '{}',
    "finished_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "organization_purges_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "organizations_external_id_key" ON "organizations"("external_id");

-- CreateIndex
CREATE UNIQUE INDEX "users_external_id_key" ON "users"("external_id");

-- CreateIndex
CREATE UNIQUE INDEX "memberships_external_id_key" ON "memberships"("external_id");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "memberships"("user_id");

-- CreateIndex
CREATE UNIQUE INDEX "memberships_organization_id_user_id_key" ON "memberships"("organization_id", "user_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_hash_key" ON "api_keys"("hash");

-- CreateIndex
CREATE INDEX "api_keys_organization_id_environment_idx" ON "api_keys"("organization_id", "environment");

-- CreateIndex
CREATE INDEX "idempotency_records_expires_at_idx" ON "idempotency_records"("expires_at");

-- CreateIndex
CREATE INDEX "idempotency_records_organization_id_idx" ON "idempotency_records"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "idempotency_records_api_key_id_operation_key_key" ON "idempotency_records"("api_key_id", "operation", "key");

-- CreateIndex
CREATE UNIQUE INDEX "agents_organization_id_slug_key" ON "agents"("organization_id", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "agent_configs_agent_id_environment_key" ON "agent_configs"("agent_id", "environment");

-- CreateIndex
CREATE UNIQUE INDEX "routers_organization_id_environment_slug_key" ON "routers"("organization_id", "environment", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "roles_organization_id_environment_slug_key" ON "roles"("organization_id", "environment", "slug");

-- CreateIndex
CREATE UNIQUE INDEX "tools_organization_id_environment_name_key" ON "tools"("organization_id", "environment", "name");

-- CreateIndex
CREATE INDEX "triggers_organization_id_environment_entity_type_action_idx" ON "triggers"("organization_id", "environment", "entity_type", "action");

-- CreateIndex
CREATE UNIQUE INDEX "triggers_organization_id_environment_slug_key" ON "triggers"("organization_id", "environment", "slug");

-- CreateIndex
CREATE INDEX "trigger_runs_status_run_at_idx" ON "trigger_runs"("status", "run_at");

-- CreateIndex
CREATE INDEX "trigger_runs_organization_id_environment_created_at_idx" ON "trigger_runs"("organization_id", "environment", "created_at" DESC);

-- CreateIndex
CREATE INDEX "trigger_runs_organization_id_environment_trigger_slug_entit_idx" ON "trigger_runs"("organization_id", "environment", "trigger_slug", "entity_id", "status");

-- CreateIndex
CREATE UNIQUE INDEX "trigger_runs_organization_id_environment_trigger_slug_cause_key" ON "trigger_runs"("organization_id", "environment", "trigger_slug", "cause");

-- CreateIndex
CREATE UNIQUE INDEX "entity_types_organization_id_environment_slug_key" ON "entity_types"("organization_id", "environment", "slug");

-- CreateIndex
CREATE INDEX "entities_type_id_created_at_id_idx" ON "entities"("type_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "entity_relations_organization_id_environment_to_id_relation_idx" ON "entity_relations"("organization_id", "environment", "to_id", "relation");

-- CreateIndex
CREATE UNIQUE INDEX "entity_relations_organization_id_environment_from_id_relati_key" ON "entity_relations"("organization_id", "environment", "from_id", "relation", "to_id");

-- CreateIndex
CREATE INDEX "events_organization_id_environment_id_idx" ON "events"("organization_id", "environment", "id" DESC);

-- CreateIndex
CREATE INDEX "events_organization_id_environment_entity_id_idx" ON "events"("organization_id", "environment", "entity_id");

-- CreateIndex
CREATE INDEX "threads_organization_id_environment_last_message_at_idx" ON "threads"("organization_id", "environment", "last_message_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "threads_organization_id_environment_external_id_key" ON "threads"("organization_id", "environment", "external_id");

-- CreateIndex
CREATE INDEX "executions_thread_id_id_idx" ON "executions"("thread_id", "id");

-- CreateIndex
CREATE INDEX "executions_organization_id_environment_created_at_idx" ON "executions"("organization_id", "environment", "created_at" DESC);

-- CreateIndex
CREATE INDEX "thread_messages_thread_id_execution_id_position_idx" ON "thread_messages"("thread_id", "execution_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "thread_messages_execution_id_position_key" ON "thread_messages"("execution_id", "position");

-- CreateIndex
CREATE INDEX "integrations_provider_active_idx" ON "integrations"("provider", "active");

-- CreateIndex
CREATE UNIQUE INDEX "integrations_organization_id_environment_provider_key" ON "integrations"("organization_id", "environment", "provider");

-- CreateIndex
CREATE UNIQUE INDEX "channel_connections_phone_number_id_key" ON "channel_connections"("phone_number_id");

-- CreateIndex
CREATE INDEX "channel_connections_organization_id_environment_idx" ON "channel_connections"("organization_id", "environment");

-- CreateIndex
CREATE INDEX "channel_connections_external_customer_id_idx" ON "channel_connections"("external_customer_id");

-- CreateIndex
CREATE INDEX "contact_aliases_contact_id_idx" ON "contact_aliases"("contact_id");

-- CreateIndex
CREATE INDEX "messages_organization_id_environment_contact_created_at_idx" ON "messages"("organization_id", "environment", "contact", "created_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "messages_connection_id_message_id_key" ON "messages"("connection_id", "message_id");

-- CreateIndex
CREATE UNIQUE INDEX "messages_organization_id_environment_idempotency_key_key" ON "messages"("organization_id", "environment", "idempotency_key");

-- CreateIndex
CREATE UNIQUE INDEX "emails_provider_id_key" ON "emails"("provider_id");

-- CreateIndex
CREATE UNIQUE INDEX "emails_organization_id_environment_idempotency_key_key" ON "emails"("organization_id", "environment", "idempotency_key");

-- CreateIndex
CREATE INDEX "processed_payments_organization_id_idx" ON "processed_payments"("organization_id");

-- CreateIndex
CREATE UNIQUE INDEX "processed_payments_provider_order_id_key" ON "processed_payments"("provider", "order_id");

-- CreateIndex
CREATE UNIQUE INDEX "credit_entries_cause_key" ON "credit_entries"("cause");

-- CreateIndex
CREATE INDEX "credit_entries_organization_id_created_at_idx" ON "credit_entries"("organization_id", "created_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_status_received_at_idx" ON "webhook_deliveries"("status", "received_at");

-- CreateIndex
CREATE INDEX "webhook_deliveries_organization_id_received_at_idx" ON "webhook_deliveries"("organization_id", "received_at" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_provider_delivery_id_key" ON "webhook_deliveries"("provider", "delivery_id");

-- CreateIndex
CREATE UNIQUE INDEX "organization_purges_organization_id_key" ON "organization_purges"("organization_id");

-- CreateIndex
CREATE INDEX "organization_purges_finished_at_run_at_idx" ON "organization_purges"("finished_at", "run_at");

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_organization_id_fkey" FOREIGN KEY ("organization_id") REFERENCES "organizations"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "agent_configs" ADD CONSTRAINT "agent_configs_agent_id_fkey" FOREIGN KEY ("agent_id") REFERENCES "agents"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "entities" ADD CONSTRAINT "entities_type_id_fkey" FOREIGN KEY ("type_id") REFERENCES "entity_types"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "executions" ADD CONSTRAINT "executions_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "thread_messages" ADD CONSTRAINT "thread_messages_thread_id_fkey" FOREIGN KEY ("thread_id") REFERENCES "threads"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "thread_messages" ADD CONSTRAINT "thread_messages_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_execution_id_fkey" FOREIGN KEY ("execution_id") REFERENCES "executions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_connection_id_fkey" FOREIGN KEY ("connection_id") REFERENCES "channel_connections"("id") ON DELETE CASCADE ON UPDATE CASCADE;
