-- Rows of an organization carry its number instead of its text id, as a part of every key (docs/adr/0036). Every table is
-- written again, so the services are stopped meanwhile.

-- Rows of organizations that are no longer there, which nobody can reach.
DELETE FROM "idempotency_records" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "environment_states" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "routers" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "roles" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "tools" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "triggers" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "trigger_runs" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "entity_types" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "entities" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "entity_relations" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "events" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "threads" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "executions" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "integrations" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "channel_connections" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "contact_aliases" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "messages" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "emails" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "processed_payments" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");
DELETE FROM "credit_entries" WHERE "organization_id" NOT IN (SELECT "id" FROM "organizations");

ALTER TABLE "organizations" ADD COLUMN "no" SERIAL NOT NULL;
CREATE UNIQUE INDEX "organizations_no_key" ON "organizations"("no");

-- The text id of an organization, for statements that find their tenant.
CREATE FUNCTION "organization_id"("tenant" integer) RETURNS text LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
  SELECT id FROM organizations WHERE no = tenant
$$;

CREATE FUNCTION "migrated_tenant"("organization_id" text) RETURNS integer LANGUAGE plpgsql STABLE STRICT AS E'
begin
  return (select no from organizations where id = organization_id)\x3B
end';

ALTER TABLE "memberships" DROP CONSTRAINT "memberships_organization_id_fkey";
ALTER TABLE "api_keys" DROP CONSTRAINT "api_keys_organization_id_fkey";
ALTER TABLE "agents" DROP CONSTRAINT "agents_organization_id_fkey";
ALTER TABLE "agent_configs" DROP CONSTRAINT "agent_configs_agent_id_fkey";
ALTER TABLE "executions" DROP CONSTRAINT "executions_thread_id_fkey";
ALTER TABLE "thread_messages" DROP CONSTRAINT "thread_messages_thread_id_fkey";
ALTER TABLE "thread_messages" DROP CONSTRAINT "thread_messages_execution_id_fkey";
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_execution_id_fkey";
ALTER TABLE "payment_orders" DROP CONSTRAINT "payment_orders_organization_id_fkey";
ALTER TABLE "payment_reconciliations" DROP CONSTRAINT "payment_reconciliations_integration_id_fkey";

DROP INDEX "memberships_organization_id_user_id_key";
DROP INDEX "api_keys_organization_id_environment_idx";
DROP INDEX "idempotency_records_organization_id_idx";
DROP INDEX "idempotency_records_api_key_id_operation_key_key";
DROP INDEX "agents_organization_id_slug_key";
DROP INDEX "agent_configs_agent_id_environment_key";
DROP INDEX "routers_organization_id_environment_slug_key";
DROP INDEX "roles_organization_id_environment_slug_key";
DROP INDEX "tools_organization_id_environment_name_key";
DROP INDEX "triggers_organization_id_environment_entity_type_action_idx";
DROP INDEX "triggers_organization_id_environment_slug_key";
DROP INDEX "trigger_runs_organization_id_environment_created_at_idx";
DROP INDEX "trigger_runs_organization_id_environment_trigger_slug_cause_key";
DROP INDEX "entity_types_no_key";
DROP INDEX "entity_types_organization_id_environment_slug_key";
DROP INDEX "entities_part_pos_key";
DROP INDEX "entity_fields_part_segment_field_value_pos_idx";
DROP INDEX "entity_relations_organization_id_environment_to_id_relation_idx";
DROP INDEX "entity_relations_organization_id_environment_from_id_relati_key";
DROP INDEX "events_entity_id_id_idx";
DROP INDEX "events_organization_id_environment_id_idx";
DROP INDEX "events_organization_id_environment_xid_id_idx";
DROP INDEX "threads_organization_id_environment_last_message_at_idx";
DROP INDEX "threads_organization_id_environment_external_id_key";
DROP INDEX "executions_organization_id_environment_created_at_idx";
DROP INDEX "executions_thread_id_id_idx";
DROP INDEX "thread_messages_execution_id_position_key";
DROP INDEX "thread_messages_thread_id_execution_id_position_idx";
DROP INDEX "integrations_organization_id_environment_provider_key";
DROP INDEX "payment_orders_flow_token_key";
DROP INDEX "payment_orders_organization_id_environment_call_key_key";
DROP INDEX "channel_connections_organization_id_environment_idx";
DROP INDEX "messages_organization_id_environment_contact_created_at_idx";
DROP INDEX "messages_connection_id_message_id_key";
DROP INDEX "messages_organization_id_environment_idempotency_key_key";
DROP INDEX "emails_provider_id_key";
DROP INDEX "emails_organization_id_environment_idempotency_key_key";
DROP INDEX "processed_payments_organization_id_idx";
DROP INDEX "credit_entries_cause_key";
DROP INDEX "credit_entries_organization_id_created_at_idx";
DROP INDEX "webhook_deliveries_organization_id_received_at_idx";
DROP INDEX "emails_tenant_due_idx";
DROP INDEX "events_unrelayed_idx";
DROP INDEX "messages_inbound_due_idx";
DROP INDEX "messages_outbound_due_idx";
DROP INDEX "messages_outbound_lane_idx";
DROP INDEX "payment_orders_open_idx";
DROP INDEX "trigger_runs_dead_idx";
DROP INDEX "trigger_runs_tenant_due_idx";
DROP INDEX "webhook_deliveries_tenant_due_idx";

ALTER TABLE "memberships" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "memberships" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "api_keys" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "api_keys" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "idempotency_records" DROP CONSTRAINT "idempotency_records_pkey";
ALTER TABLE "idempotency_records" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "idempotency_records" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "idempotency_records" RENAME COLUMN "api_key_id" TO "caller_id";
ALTER TABLE "environment_states" DROP CONSTRAINT "environment_states_pkey";
ALTER TABLE "environment_states" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "environment_states" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "agents" DROP CONSTRAINT "agents_pkey";
ALTER TABLE "agents" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "agents" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "agent_configs" DROP CONSTRAINT "agent_configs_pkey";
ALTER TABLE "agent_configs" ADD COLUMN "tenant" INTEGER;
UPDATE "agent_configs" c SET "tenant" = p."tenant" FROM "agents" p WHERE p."id" = c."agent_id";
ALTER TABLE "agent_configs" ALTER COLUMN "tenant" SET NOT NULL;
ALTER TABLE "routers" DROP CONSTRAINT "routers_pkey";
ALTER TABLE "routers" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "routers" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "roles" DROP CONSTRAINT "roles_pkey";
ALTER TABLE "roles" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "roles" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "tools" DROP CONSTRAINT "tools_pkey";
ALTER TABLE "tools" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "tools" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "triggers" DROP CONSTRAINT "triggers_pkey";
ALTER TABLE "triggers" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "triggers" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "trigger_runs" DROP CONSTRAINT "trigger_runs_pkey";
ALTER TABLE "trigger_runs" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "trigger_runs" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "entity_types" DROP CONSTRAINT "entity_types_pkey";
ALTER TABLE "entity_types" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "entity_types" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "entities" DROP CONSTRAINT "entities_pkey";
ALTER TABLE "entities" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "entities" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
CREATE TABLE "migrated_fields" AS
  SELECT t.tenant, f.part, f.segment, f.field, f.value, f.pos FROM "entity_fields" f JOIN "entity_types" t ON t.no = abs(f.part);
DROP TABLE "entity_fields";
ALTER TABLE "migrated_fields" RENAME TO "entity_fields";
ALTER TABLE "entity_fields" ALTER COLUMN "tenant" SET NOT NULL, ALTER COLUMN "part" SET NOT NULL,
  ALTER COLUMN "segment" SET NOT NULL, ALTER COLUMN "field" SET NOT NULL, ALTER COLUMN "value" SET NOT NULL,
  ALTER COLUMN "pos" SET NOT NULL;
ALTER TABLE "entity_fields" SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE "entity_shapes" DROP CONSTRAINT "entity_shapes_pkey";
ALTER TABLE "entity_shapes" ADD COLUMN "tenant" INTEGER;
UPDATE "entity_shapes" c SET "tenant" = p."tenant" FROM "entity_types" p WHERE p."no" = c."type_no";
DELETE FROM "entity_shapes" WHERE "tenant" IS NULL;
ALTER TABLE "entity_shapes" ALTER COLUMN "tenant" SET NOT NULL;
ALTER TABLE "entity_relations" DROP CONSTRAINT "entity_relations_pkey";
ALTER TABLE "entity_relations" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "entity_relations" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "events" DROP CONSTRAINT "events_pkey";
ALTER TABLE "events" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "events" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "threads" DROP CONSTRAINT "threads_pkey";
ALTER TABLE "threads" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "threads" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "executions" DROP CONSTRAINT "executions_pkey";
ALTER TABLE "executions" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "executions" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "thread_messages" DROP CONSTRAINT "thread_messages_pkey";
ALTER TABLE "thread_messages" ADD COLUMN "tenant" INTEGER;
UPDATE "thread_messages" c SET "tenant" = p."tenant" FROM "threads" p WHERE p."id" = c."thread_id";
ALTER TABLE "thread_messages" ALTER COLUMN "tenant" SET NOT NULL;
ALTER TABLE "tool_calls" DROP CONSTRAINT "tool_calls_pkey";
ALTER TABLE "tool_calls" ADD COLUMN "tenant" INTEGER;
UPDATE "tool_calls" c SET "tenant" = p."tenant" FROM "executions" p WHERE p."id" = c."execution_id";
ALTER TABLE "tool_calls" ALTER COLUMN "tenant" SET NOT NULL;
ALTER TABLE "integrations" DROP CONSTRAINT "integrations_pkey";
ALTER TABLE "integrations" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "integrations" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "payment_orders" DROP CONSTRAINT "payment_orders_pkey";
ALTER TABLE "payment_orders" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "payment_orders" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "payment_reconciliations" DROP CONSTRAINT "payment_reconciliations_pkey";
ALTER TABLE "payment_reconciliations" ADD COLUMN "tenant" INTEGER;
UPDATE "payment_reconciliations" c SET "tenant" = p."tenant" FROM "integrations" p WHERE p."id" = c."integration_id";
ALTER TABLE "payment_reconciliations" ALTER COLUMN "tenant" SET NOT NULL;
ALTER TABLE "channel_connections" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "channel_connections" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "contact_aliases" DROP CONSTRAINT "contact_aliases_pkey";
ALTER TABLE "contact_aliases" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "contact_aliases" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "messages" DROP CONSTRAINT "messages_pkey";
ALTER TABLE "messages" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "messages" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "emails" DROP CONSTRAINT "emails_pkey";
ALTER TABLE "emails" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "emails" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "processed_payments" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "processed_payments" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "credit_entries" DROP CONSTRAINT "credit_entries_pkey";
ALTER TABLE "credit_entries" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "credit_entries" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_pkey";
ALTER TABLE "webhook_deliveries" RENAME COLUMN "organization_id" TO "tenant";
ALTER TABLE "webhook_deliveries" ALTER COLUMN "tenant" TYPE INTEGER USING migrated_tenant("tenant");
ALTER TABLE "organization_purges" ADD COLUMN "tenant" INTEGER NOT NULL DEFAULT 0;
UPDATE "organization_purges" SET "tenant" = migrated_tenant("organization_id") WHERE "organization_id" IN (SELECT "id" FROM "organizations");
ALTER TABLE "organization_purges" ALTER COLUMN "tenant" DROP DEFAULT;
DROP FUNCTION "migrated_tenant"(text);

ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "environment_states" ADD CONSTRAINT "environment_states_pkey" PRIMARY KEY ("tenant", "environment");
ALTER TABLE "agents" ADD CONSTRAINT "agents_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "agent_configs" ADD CONSTRAINT "agent_configs_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "routers" ADD CONSTRAINT "routers_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "roles" ADD CONSTRAINT "roles_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "tools" ADD CONSTRAINT "tools_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "triggers" ADD CONSTRAINT "triggers_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "trigger_runs" ADD CONSTRAINT "trigger_runs_pkey" PRIMARY KEY ("tenant", "id");
ALTER TABLE "entity_types" ADD CONSTRAINT "entity_types_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "entities" ADD CONSTRAINT "entities_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "entity_shapes" ADD CONSTRAINT "entity_shapes_pkey" PRIMARY KEY ("tenant", "type_no", "shape");
ALTER TABLE "entity_relations" ADD CONSTRAINT "entity_relations_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "events" ADD CONSTRAINT "events_pkey" PRIMARY KEY ("tenant", "id");
ALTER TABLE "threads" ADD CONSTRAINT "threads_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "executions" ADD CONSTRAINT "executions_pkey" PRIMARY KEY ("tenant", "id");
ALTER TABLE "thread_messages" ADD CONSTRAINT "thread_messages_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("tenant", "execution_id", "call_id");
ALTER TABLE "integrations" ADD CONSTRAINT "integrations_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "payment_orders" ADD CONSTRAINT "payment_orders_pkey" PRIMARY KEY ("payment_id", "tenant");
ALTER TABLE "payment_reconciliations" ADD CONSTRAINT "payment_reconciliations_pkey" PRIMARY KEY ("integration_id", "tenant");
ALTER TABLE "contact_aliases" ADD CONSTRAINT "contact_aliases_pkey" PRIMARY KEY ("tenant", "environment", "channel", "alias");
ALTER TABLE "messages" ADD CONSTRAINT "messages_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "emails" ADD CONSTRAINT "emails_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "credit_entries" ADD CONSTRAINT "credit_entries_pkey" PRIMARY KEY ("id", "tenant");
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("id", "delivery_id");

CREATE UNIQUE INDEX "memberships_tenant_user_id_key" ON "memberships"("tenant", "user_id");
CREATE INDEX "api_keys_tenant_environment_idx" ON "api_keys"("tenant", "environment");
CREATE INDEX "idempotency_records_tenant_idx" ON "idempotency_records"("tenant");
CREATE UNIQUE INDEX "idempotency_records_caller_id_operation_key_tenant_key" ON "idempotency_records"("caller_id", "operation", "key", "tenant");
CREATE UNIQUE INDEX "agents_tenant_slug_key" ON "agents"("tenant", "slug");
CREATE UNIQUE INDEX "agent_configs_agent_id_environment_tenant_key" ON "agent_configs"("agent_id", "environment", "tenant");
CREATE UNIQUE INDEX "routers_tenant_environment_slug_key" ON "routers"("tenant", "environment", "slug");
CREATE UNIQUE INDEX "roles_tenant_environment_slug_key" ON "roles"("tenant", "environment", "slug");
CREATE UNIQUE INDEX "tools_tenant_environment_name_key" ON "tools"("tenant", "environment", "name");
CREATE INDEX "triggers_tenant_environment_entity_type_action_idx" ON "triggers"("tenant", "environment", "entity_type", "action");
CREATE UNIQUE INDEX "triggers_tenant_environment_slug_key" ON "triggers"("tenant", "environment", "slug");
CREATE INDEX "trigger_runs_tenant_environment_created_at_idx" ON "trigger_runs"("tenant", "environment", "created_at" DESC);
CREATE UNIQUE INDEX "trigger_runs_tenant_environment_trigger_slug_cause_key" ON "trigger_runs"("tenant", "environment", "trigger_slug", "cause");
CREATE UNIQUE INDEX "entity_types_tenant_no_key" ON "entity_types"("tenant", "no");
CREATE UNIQUE INDEX "entity_types_tenant_environment_slug_key" ON "entity_types"("tenant", "environment", "slug");
CREATE UNIQUE INDEX "entities_part_pos_tenant_key" ON "entities"("part", "pos", "tenant");
CREATE INDEX "entity_fields_tenant_part_segment_field_value_pos_idx" ON "entity_fields"("tenant", "part", "segment", "field", "value", "pos");
CREATE INDEX "entity_relations_tenant_environment_to_id_relation_idx" ON "entity_relations"("tenant", "environment", "to_id", "relation");
CREATE UNIQUE INDEX "entity_relations_tenant_environment_from_id_relation_to_id_key" ON "entity_relations"("tenant", "environment", "from_id", "relation", "to_id");
CREATE INDEX "events_tenant_entity_id_id_idx" ON "events"("tenant", "entity_id", "id");
CREATE INDEX "events_tenant_environment_id_idx" ON "events"("tenant", "environment", "id");
CREATE INDEX "events_tenant_environment_xid_id_idx" ON "events"("tenant", "environment", "xid", "id");
CREATE INDEX "threads_tenant_environment_last_message_at_idx" ON "threads"("tenant", "environment", "last_message_at" DESC);
CREATE UNIQUE INDEX "threads_tenant_environment_external_id_key" ON "threads"("tenant", "environment", "external_id");
CREATE INDEX "executions_tenant_environment_created_at_idx" ON "executions"("tenant", "environment", "created_at" DESC);
CREATE UNIQUE INDEX "thread_messages_tenant_execution_id_position_key" ON "thread_messages"("tenant", "execution_id", "position");
-- Also where it is not part of a key: PostgreSQL takes the tenant for a condition of its own, and would expect few rows of a
-- thread or an entity, and read and sort all of them for the last ones.
CREATE INDEX "executions_tenant_thread_id_id_idx" ON "executions"("tenant", "thread_id", "id");
CREATE INDEX "thread_messages_tenant_thread_id_execution_id_position_idx" ON "thread_messages"("tenant", "thread_id", "execution_id", "position");
CREATE UNIQUE INDEX "integrations_tenant_environment_provider_key" ON "integrations"("tenant", "environment", "provider");
CREATE UNIQUE INDEX "payment_orders_flow_token_tenant_key" ON "payment_orders"("flow_token", "tenant");
CREATE UNIQUE INDEX "payment_orders_tenant_environment_call_key_key" ON "payment_orders"("tenant", "environment", "call_key");
CREATE INDEX "channel_connections_tenant_environment_idx" ON "channel_connections"("tenant", "environment");
CREATE INDEX "messages_tenant_environment_contact_created_at_idx" ON "messages"("tenant", "environment", "contact", "created_at" DESC);
CREATE UNIQUE INDEX "messages_connection_id_message_id_tenant_key" ON "messages"("connection_id", "message_id", "tenant");
CREATE UNIQUE INDEX "messages_tenant_environment_idempotency_key_key" ON "messages"("tenant", "environment", "idempotency_key");
CREATE UNIQUE INDEX "emails_provider_id_tenant_key" ON "emails"("provider_id", "tenant");
CREATE UNIQUE INDEX "emails_tenant_environment_idempotency_key_key" ON "emails"("tenant", "environment", "idempotency_key");
CREATE INDEX "processed_payments_tenant_idx" ON "processed_payments"("tenant");
CREATE INDEX "credit_entries_tenant_created_at_idx" ON "credit_entries"("tenant", "created_at");
CREATE UNIQUE INDEX "credit_entries_cause_tenant_key" ON "credit_entries"("cause", "tenant");

CREATE INDEX "webhook_deliveries_tenant_received_at_idx" ON "webhook_deliveries"("tenant", "received_at" DESC);
CREATE INDEX "emails_tenant_due_idx" ON "emails" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "status" IN ('queued', 'sending');
CREATE INDEX "events_unrelayed_idx" ON "events" ("tenant", "id") WHERE "relayed_at" IS NULL;
CREATE INDEX "messages_outbound_due_idx" ON "messages" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'outbound' AND "status" IN ('queued', 'sending') AND "connection_id" IS NOT NULL;
CREATE INDEX "messages_outbound_lane_idx" ON "messages" ("tenant", "environment", "contact", "id")
  WHERE "direction" = 'outbound' AND "status" IN ('queued', 'sending') AND "connection_id" IS NOT NULL;
CREATE INDEX "messages_inbound_due_idx" ON "messages" ("tenant", (coalesce("lease_until", "created_at")), "id")
  WHERE "direction" = 'inbound' AND "status" IN ('received', 'answering') AND "connection_id" IS NOT NULL;
CREATE INDEX "payment_orders_open_idx" ON "payment_orders" ("tenant", "environment", "created_at") WHERE "closed_at" IS NULL;
CREATE INDEX "trigger_runs_dead_idx" ON "trigger_runs" ("tenant", "environment", "created_at" DESC) WHERE "status" = 'dead';
-- Not on the column itself: a statement about one run, which it would be too long for, is not planned with it.
CREATE INDEX "trigger_runs_tenant_due_idx" ON "trigger_runs" (("tenant" + 0), (coalesce("lease_until", "run_at")))
  WHERE "status" IN ('scheduled', 'running');
-- For the claim of a job, which does not know the tenant.
CREATE INDEX "trigger_runs_open_idx" ON "trigger_runs" ("id") WHERE "status" IN ('scheduled', 'running');
CREATE INDEX "webhook_deliveries_tenant_due_idx" ON "webhook_deliveries" ((coalesce("tenant", 0)), "received_at", "id")
  WHERE "status" = 'received';

ALTER TABLE "memberships" ADD CONSTRAINT "memberships_tenant_fkey" FOREIGN KEY ("tenant") REFERENCES "organizations"("no") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_tenant_fkey" FOREIGN KEY ("tenant") REFERENCES "organizations"("no") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agents" ADD CONSTRAINT "agents_tenant_fkey" FOREIGN KEY ("tenant") REFERENCES "organizations"("no") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_configs" ADD CONSTRAINT "agent_configs_agent_id_tenant_fkey" FOREIGN KEY ("agent_id", "tenant") REFERENCES "agents"("id", "tenant") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "executions" ADD CONSTRAINT "executions_thread_id_tenant_fkey" FOREIGN KEY ("thread_id", "tenant") REFERENCES "threads"("id", "tenant") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "thread_messages" ADD CONSTRAINT "thread_messages_thread_id_tenant_fkey" FOREIGN KEY ("thread_id", "tenant") REFERENCES "threads"("id", "tenant") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "thread_messages" ADD CONSTRAINT "thread_messages_tenant_execution_id_fkey" FOREIGN KEY ("tenant", "execution_id") REFERENCES "executions"("tenant", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_tenant_execution_id_fkey" FOREIGN KEY ("tenant", "execution_id") REFERENCES "executions"("tenant", "id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "payment_orders" ADD CONSTRAINT "payment_orders_tenant_fkey" FOREIGN KEY ("tenant") REFERENCES "organizations"("no") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "payment_reconciliations" ADD CONSTRAINT "payment_reconciliations_integration_id_tenant_fkey" FOREIGN KEY ("integration_id", "tenant") REFERENCES "integrations"("id", "tenant") ON DELETE CASCADE ON UPDATE CASCADE;

-- As before, for the number of the organization instead of its text id. Whether the thread is new is told by its id, as a
-- row of a partition does not show xmax.
DROP FUNCTION "enter_thread";
CREATE FUNCTION "enter_thread"(
  p_tenant integer, p_environment "Environment", p_agent_id text, p_agent_slug text, p_thread_id text,
  p_external_id text, p_new_thread_id text, p_channel text, p_params jsonb, p_is_checked boolean, p_router_slug text,
  p_owner text, p_lease interval, p_input text, p_request_id text, p_message_id text, p_history_limit integer
) RETURNS TABLE (
  agent_id text, agent_slug text, definition json, thread_id text, params jsonb, turn_id bigint, state text, history json
) LANGUAGE plpgsql AS E'
#variable_conflict use_column
declare
  idle_since constant timestamptz := now() - interval ''4 hours''\x3B
  agent record\x3B
  thread record\x3B
  turn_state text\x3B
  new_turn_id bigint\x3B
  earlier json\x3B
begin
  if p_agent_id is not null then
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.tenant = p_tenant and c.agent_id = a.id and c.environment = p_environment
    where a.tenant = p_tenant and a.id = p_agent_id\x3B
  else
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.tenant = p_tenant and c.agent_id = a.id and c.environment = p_environment
    where a.tenant = p_tenant and a.slug = p_agent_slug\x3B
  end if\x3B
  if agent.definition is null then
    return query select agent.id, agent.slug, null::json, null::text, null::jsonb, null::bigint, null::text, null::json\x3B
    return\x3B
  end if\x3B
  if not p_is_checked and agent.definition->''threadContextParams'' is not null then
    if p_thread_id is not null then
      select t.id, t.params into thread from threads t
      where t.id = p_thread_id and t.tenant = p_tenant and t.environment = p_environment\x3B
    else
      select t.id, t.params into thread from threads t
      where t.tenant = p_tenant and t.environment = p_environment and t.external_id = p_external_id\x3B
    end if\x3B
    return query
      select agent.id, agent.slug, agent.definition, thread.id, thread.params, null::bigint, null::text, null::json\x3B
    return\x3B
  end if\x3B
  if p_thread_id is not null then
    update threads t set last_message_at = now(), updated_at = now(), params = t.params || p_params,
      transfer_count = case when t.last_message_at < idle_since then 0 else t.transfer_count end,
      agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= idle_since
        then t.agent_slug else agent.slug end
    where t.id = p_thread_id and t.tenant = p_tenant and t.environment = p_environment
    returning t.id, t.params, t.agent_paused, false as is_new into thread\x3B
    if not found then
      return query
        select agent.id, agent.slug, agent.definition, null::text, null::jsonb, null::bigint, null::text, null::json\x3B
      return\x3B
    end if\x3B
  else
    insert into threads as t (id, tenant, environment, external_id, channel, agent_slug, params,
                              last_message_at, updated_at)
    values (p_new_thread_id, p_tenant, p_environment, p_external_id, p_channel, agent.slug, p_params, now(), now())
    on conflict (tenant, environment, external_id) do update
      set last_message_at = excluded.last_message_at, updated_at = excluded.updated_at, params = t.params || excluded.params,
        transfer_count = case when t.last_message_at < idle_since then 0 else t.transfer_count end,
        agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= idle_since
          then t.agent_slug else excluded.agent_slug end
    returning t.id, t.params, t.agent_paused, t.id = p_new_thread_id as is_new into thread\x3B
  end if\x3B
  turn_state := case
    when thread.agent_paused then ''stored''
    when thread.is_new then ''running''
    when exists (select from executions e where e.tenant = p_tenant and e.thread_id = thread.id and e.status in (''queued'', ''running'')) then ''queued''
    else ''running'' end\x3B
  insert into executions (id, tenant, environment, thread_id, agent_slug, router_slug, status, lease_owner,
                          lease_until, input, request_id, started_at, finished_at)
  values (greatest(time_id(), time_id((select max(e.id) >> 21 from executions e where e.tenant = p_tenant and e.thread_id = thread.id) + 1)),
          p_tenant, p_environment, thread.id, agent.slug, p_router_slug,
          (case turn_state when ''stored'' then ''succeeded'' else turn_state end)::"ExecutionStatus",
          case when turn_state <> ''stored'' then p_owner end,
          case when turn_state <> ''stored'' then now() + p_lease end, p_input, p_request_id,
          case when turn_state <> ''queued'' then now() end, case when turn_state = ''stored'' then now() end)
  returning id into new_turn_id\x3B
  insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
  values (p_message_id, p_tenant, thread.id, new_turn_id, 0, ''user'', p_input)\x3B
  if turn_state = ''running'' and not thread.is_new then
    select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id)
                    order by m.execution_id, m.position) into earlier
    from (select * from thread_messages
          where tenant = p_tenant and thread_id = thread.id and execution_id < new_turn_id
          order by execution_id desc, position desc limit p_history_limit) m\x3B
  end if\x3B
  return query
    select agent.id, agent.slug, agent.definition, thread.id, thread.params, new_turn_id, turn_state, earlier\x3B
end';

-- PostgreSQL then expects as many rows of each tenant as the largest one has. With the average it would read and sort all
-- rows of a large tenant where it has to follow an index until a page is full.
ALTER TABLE "entities" ALTER COLUMN "tenant" SET (n_distinct = 1);
ALTER TABLE "events" ALTER COLUMN "tenant" SET (n_distinct = 1);

-- Tables that were written again have no statistics. New, empty ones need none.
DO E'begin if exists (select from organizations) then analyze\x3B end if\x3B end';
