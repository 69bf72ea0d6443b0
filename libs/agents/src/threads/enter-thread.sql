-- The function that stores a message as the next turn of its thread. This file is its readable text. The database gets it
-- from the latest migration that creates it; enter-thread.test.ts compares the two.
--
-- Which thread a message belongs to (docs/reference/chat.md#threads):
--   with a thread id      that thread, which must exist in the environment and not be the one of a single request
--   with an external id   the thread that the environment has under this id, else a new one with it
--   with neither          a new thread
-- Its params are merged into those that the thread already has, at most max_params_bytes together, and a closed thread is opened. After four hours without
-- a message the count of transfers starts again at 0 and a router chooses the agent again; until then the agent that a
-- router transferred the thread to keeps it.
--
-- One call reads the agent, locks the thread's row and stores the turn with its message. The lock makes ids of turns
-- follow the order in which messages arrive. The turn's state in the result:
--   stored    a person has taken the thread over or was asked for, and the agent does not answer yet
--   queued    earlier turns of the thread have not finished (turn-queue.ts)
--   running   it begins at once, and the result contains the thread's history
-- A result without a turn means: no definition, the agent is missing or has no configuration in the environment; no
-- thread id, there is no such thread; else the agent declares params, which the caller checks before it calls again.
create or replace function enter_thread(
  p_tenant integer, p_environment "Environment", p_agent_id text, p_agent_slug text, p_thread_id text,
  p_external_id text, p_new_thread_id text, p_channel text, p_params jsonb, p_is_checked boolean, p_router_slug text,
  p_owner text, p_lease interval, p_input text, p_request_id text, p_message_id text, p_history_limit integer
) returns table (
  agent_id text, agent_slug text, definition json, thread_id text, params jsonb, turn_id bigint, state text, history json
) language plpgsql as $$
#variable_conflict use_column
declare
  idle_since constant timestamptz := now() - interval '4 hours';
  max_params_bytes constant integer := 65536;
  -- Of the history, so that a process does not hold megabytes for each turn.
  max_history_bytes constant integer := 2097152;
  agent record;
  thread record;
  turn_state text;
  new_turn_id bigint;
  earlier json;
begin
  if p_agent_id is not null then
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.tenant = p_tenant and c.agent_id = a.id and c.environment = p_environment
    where a.tenant = p_tenant and a.id = p_agent_id;
  else
    select a.id, a.slug, c.definition into agent
    from agents a left join agent_configs c on c.tenant = p_tenant and c.agent_id = a.id and c.environment = p_environment
    where a.tenant = p_tenant and a.slug = p_agent_slug;
  end if;
  if agent.definition is null then
    return query select agent.id, agent.slug, null::json, null::text, null::jsonb, null::bigint, null::text, null::json;
    return;
  end if;

  -- Params that the agent declares are checked by the caller, which needs those that the thread already has.
  if not p_is_checked and agent.definition->'threadContextParams' is not null then
    if p_thread_id is not null then
      select t.id, t.params into thread from threads t
      where t.id = p_thread_id and t.tenant = p_tenant and t.environment = p_environment and t.erase_at is null;
    else
      select t.id, t.params into thread from threads t
      where t.tenant = p_tenant and t.environment = p_environment and t.external_id = p_external_id;
    end if;
    return query
      select agent.id, agent.slug, agent.definition, thread.id, thread.params, null::bigint, null::text, null::json;
    return;
  end if;

  -- Each message may add params, so a thread would otherwise grow without end. Those that it already has pass.
  if p_params <> '{}' then
    if p_thread_id is not null then
      select t.params into thread from threads t
      where t.id = p_thread_id and t.tenant = p_tenant and t.environment = p_environment for update;
    else
      select t.params into thread from threads t
      where t.tenant = p_tenant and t.environment = p_environment and t.external_id = p_external_id for update;
    end if;
    -- A new thread has no params yet. The row is locked, so that messages at the same time are added up.
    if octet_length((coalesce(thread.params, '{}') || p_params)::text) > max_params_bytes
       and not coalesce(thread.params, '{}') @> p_params then
      raise exception 'params_too_large' using errcode = 'PL001';
    end if;
  end if;

  if p_thread_id is not null then
    update threads t set last_message_at = now(), updated_at = now(), params = t.params || p_params,
      status = 'open', state = case when t.resumes_at <= now() then 'agent' else t.state end,
      resumes_at = case when t.resumes_at <= now() then null else t.resumes_at end,
      transfer_count = case when t.last_message_at < idle_since then 0 else t.transfer_count end,
      agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= idle_since
        then t.agent_slug else agent.slug end
    where t.id = p_thread_id and t.tenant = p_tenant and t.environment = p_environment and t.erase_at is null
    returning t.id, t.params, t.state, false as is_new into thread;
    if not found then
      return query
        select agent.id, agent.slug, agent.definition, null::text, null::jsonb, null::bigint, null::text, null::json;
      return;
    end if;
  else
    insert into threads as t (id, tenant, environment, external_id, channel, agent_slug, params,
                              last_message_at, updated_at)
    values (p_new_thread_id, p_tenant, p_environment, p_external_id, p_channel, agent.slug, p_params, now(), now())
    on conflict (tenant, environment, external_id) do update
      set last_message_at = excluded.last_message_at, updated_at = excluded.updated_at, params = t.params || excluded.params,
        status = 'open', state = case when t.resumes_at <= now() then 'agent' else t.state end,
        resumes_at = case when t.resumes_at <= now() then null else t.resumes_at end,
        transfer_count = case when t.last_message_at < idle_since then 0 else t.transfer_count end,
        agent_slug = case when p_router_slug is not null and t.transfer_count > 0 and t.last_message_at >= idle_since
          then t.agent_slug else excluded.agent_slug end
    returning t.id, t.params, t.state, t.id = p_new_thread_id as is_new into thread;
  end if;

  turn_state := case
    when thread.state <> 'agent' then 'stored'
    when thread.is_new then 'running'
    when exists (select from executions e where e.tenant = p_tenant and e.thread_id = thread.id and e.status in ('queued', 'running')) then 'queued'
    else 'running' end;
  -- An id made from the time, but always greater than the ids of the thread's earlier turns, whatever the clock says.
  insert into executions (id, tenant, environment, thread_id, agent_slug, router_slug, status, lease_owner,
                          lease_until, input, request_id, started_at, finished_at)
  values (greatest(time_id(), time_id((select max(e.id) >> 21 from executions e where e.tenant = p_tenant and e.thread_id = thread.id) + 1)),
          p_tenant, p_environment, thread.id, agent.slug, p_router_slug,
          (case turn_state when 'stored' then 'succeeded' else turn_state end)::"ExecutionStatus",
          case when turn_state <> 'stored' then p_owner end,
          case when turn_state <> 'stored' then now() + p_lease end, p_input, p_request_id,
          case when turn_state <> 'queued' then now() end, case when turn_state = 'stored' then now() end)
  returning id into new_turn_id;
  insert into thread_messages (id, tenant, thread_id, execution_id, position, role, content)
  values (p_message_id, p_tenant, thread.id, new_turn_id, 0, 'user', p_input);
  if turn_state = 'running' and not thread.is_new then
    select json_agg(json_build_array(m.execution_id::text, m.role, m.content, m.tool_calls, m.tool_call_id,
                                     m.author->>'name')
                    order by m.execution_id, m.position) into earlier
    from (select *, sum(octet_length(content) + coalesce(octet_length(tool_calls::text), 0))
                      over (order by execution_id desc, position desc) as bytes
          from thread_messages
          where tenant = p_tenant and thread_id = thread.id and execution_id < new_turn_id and role <> 'note'
          order by execution_id desc, position desc limit p_history_limit) m
    where m.bytes <= max_history_bytes;
  end if;
  return query
    select agent.id, agent.slug, agent.definition, thread.id, thread.params, new_turn_id, turn_state, earlier;
end
$$;
