-- An id made from a time in milliseconds, by default the current time: the time, and in the lower 21 bits a number that
-- distinguishes ids of one millisecond. Positions of entities are made alike, from the same sequence (docs/adr/0003). Later
-- ids are greater, ids that sequences gave before are smaller than all of them (docs/adr/0034).
CREATE FUNCTION "time_id"("ms" bigint DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint) RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  SELECT (ms << 21) | (nextval('entity_sequence') & 2097151)
$$;

-- The transaction that recorded an event. A constant default for the rows that are there does not rewrite the table.
ALTER TABLE "events" ADD COLUMN "xid" xid8 NOT NULL DEFAULT '1';
ALTER TABLE "events" ALTER COLUMN "xid" SET DEFAULT pg_current_xact_id(), ALTER COLUMN "id" SET DEFAULT time_id();
DROP SEQUENCE "events_id_seq";
-- Ascending, as ids grow: new ones fill the last page of a tenant. Descending, each page was left half empty.
DROP INDEX "events_organization_id_environment_id_idx";
CREATE INDEX "events_organization_id_environment_id_idx" ON "events"("organization_id", "environment", "id");
CREATE INDEX "events_organization_id_environment_xid_id_idx" ON "events"("organization_id", "environment", "xid", "id");

ALTER TABLE "executions" ALTER COLUMN "id" SET DEFAULT time_id();
DROP SEQUENCE "executions_id_seq";

-- As before, but for the id of the turn: it is greater than the last one of its thread, whose row is locked, also when the
-- clock was set back.
CREATE OR REPLACE FUNCTION "enter_thread"(
  p_organization_id text, p_environment "Environment", p_agent_id text, p_agent_slug text, p_thread_id text,
  p_external_id text, p_new_thread_id text, p_channel text, p_params jsonb, p_is_checked boolean, p_router_slug text,
  p_owner text, p_lease interval, p_input text, p_request_id text, p_message_id text, p_history_limit integer
) RETURNS TABLE (
  agent_id text, agent_slug text, definition json, thread_id text, params jsonb, turn_id bigint, state text, history json
) LANGUAGE plpgsql AS E'
#variable_conflict use_column
declare
  idle constant interval := ''4 hours''\x3B
  agent record\x3B
  thread record\x3B
  turn_state text\x3B
  new_turn_id bigint\x3B
  earlier json\x3B
begin
  if p_agent_id is not null then
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.agent_id = a.id and c.environment = p_environment
    where a.organization_id = p_organization_id and a.id = p_agent_id\x3B
  else
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.agent_id = a.id and c.environment = p_environment
    where a.organization_id = p_organization_id and a.slug = p_agent_slug\x3B
  end if\x3B
  if agent.definition is null then
    return query select agent.id, agent.slug, null::json, null::text, null::jsonb, null::bigint, null::text, null::json\x3B
    return\x3B
  end if\x3B
  if not p_is_checked and agent.definition->''threadContextParams'' is not null then
    if p_thread_id is not null then
      select t.id, t.params into thread from threads t
      where t.id = p_thread_id and t.organization_id = p_organization_id and t.environment = p_environment\x3B
    else
      select t.id, t.params into thread from threads t
      where t.organization_id = p_organization_id and t.environment = p_environment and t.external_id = p_external_id\x3B
    end if\x3B
    return query
      select agent.id, agent.slug, agent.definition, thread.id, thread.params, null::bigint, null::text, null::json\x3B
    return\x3B
  end if\x3B
  if p_thread_id is not null then
    update threads t set last_message_at = now(), updated_at = now(), params = t.params || p_params,
      transfer_count = case when t.last_message_at < now() - idle then 0 else t.transfer_count end,
      agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= now() - idle
        then t.agent_slug else agent.slug end
    where t.id = p_thread_id and t.organization_id = p_organization_id and t.environment = p_environment
    returning t.id, t.params, t.agent_paused, false as is_new into thread\x3B
    if not found then
      return query
        select agent.id, agent.slug, agent.definition, null::text, null::jsonb, null::bigint, null::text, null::json\x3B
      return\x3B
    end if\x3B
  else
    insert into threads as t (id, organization_id, environment, external_id, channel, agent_slug, params,
                              last_message_at, updated_at)
    values (p_new_thread_id, p_organization_id, p_environment, p_external_id, p_channel, agent.slug, p_params, now(), now())
    on conflict (organization_id, environment, external_id) do update
      set last_message_at = now(), updated_at = now(), params = t.params || excluded.params,
        transfer_count = case when t.last_message_at < now() - idle then 0 else t.transfer_count end,
        agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= now() - idle
          then t.agent_slug else excluded.agent_slug end
    returning t.id, t.params, t.agent_paused, t.xmax = 0 as is_new into thread\x3B
  end if\x3B
  turn_state := case
    when thread.agent_paused then ''stored''
    when thread.is_new then ''running''
    when exists (select from executions e where e.thread_id = thread.id and e.status in (''queued'', ''running'')) then ''queued''
    else ''running'' end\x3B
  insert into executions (id, organization_id, environment, thread_id, agent_slug, router_slug, status, lease_owner,
                          lease_until, input, request_id, started_at, finished_at)
  values (greatest(time_id(), time_id((select max(e.id) >> 21 from executions e where e.thread_id = thread.id) + 1)),
          p_organization_id, p_environment, thread.id, agent.slug, p_router_slug,
          (case turn_state when ''stored'' then ''succeeded'' else turn_state end)::"ExecutionStatus",
          case when turn_state <> ''stored'' then p_owner end,
          case when turn_state <> ''stored'' then now() + p_lease end, p_input, p_request_id,
          case when turn_state <> ''queued'' then now() end, case when turn_state = ''stored'' then now() end)
  returning id into new_turn_id\x3B
  insert into thread_messages (id, thread_id, execution_id, position, role, content)
  values (p_message_id, thread.id, new_turn_id, 0, ''user'', p_input)\x3B
  if turn_state = ''running'' and not thread.is_new then
    select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id)
                    order by m.execution_id, m.position) into earlier
    from (select * from thread_messages
          where thread_id = thread.id and execution_id < new_turn_id
          order by execution_id desc, position desc limit p_history_limit) m\x3B
  end if\x3B
  return query
    select agent.id, agent.slug, agent.definition, thread.id, thread.params, new_turn_id, turn_state, earlier\x3B
end';
