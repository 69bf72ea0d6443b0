-- Finds entities by a payment's token. In a small table the planner prefers a sequential scan to the index, and then reads `data` of
-- every entity, which takes seconds when some are large. So sequential scans are off in this function.
create function entities_by_flow_token(p_token text)
  returns table (id text, tenant integer, environment "Environment")
  language sql stable set enable_seqscan = off as
  'select e.id, e.tenant, e.environment from entities e where e.data ->> ''flowToken'' = p_token limit 5';
