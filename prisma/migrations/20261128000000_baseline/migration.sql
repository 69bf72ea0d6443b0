-- The whole schema of version 0.1.0: tables by the library that owns them, then functions. The
-- columns are described in prisma/schema.prisma. Later migrations only add to it, or say in their
-- name that they do not (docs/adr/0070).
--
-- Index names: `_due_` is open work, by the time from which it may be claimed, tenant by tenant
-- (docs/adr/0035). Its index ends with a condition that is true for all its rows and keeps
-- PostgreSQL from reading the whole index for statements about other keys (docs/adr/0081). `_held_`
-- is what waits for an operator after a restore (docs/adr/0052).

-- Types ───────────────────────────────────────────────────────────────────────────────────────────

create type "Environment" as enum ('development', 'production');
create type "MembershipRole" as enum ('admin', 'member');
create type "TriggerRunStatus" as enum (
  'scheduled',
  'running',
  'succeeded',
  'dead',
  'cancelled',
  'held'
);
create type "ThreadState" as enum ('agent', 'human', 'waiting');
create type "ThreadStatus" as enum ('open', 'closed');
create type "ExecutionStatus" as enum ('queued', 'running', 'succeeded', 'failed');
create type "MessageRole" as enum ('user', 'assistant', 'tool', 'note', 'system');
create type "ToolCallStatus" as enum ('started', 'succeeded', 'failed');
create type "ConnectionStatus" as enum ('pending', 'connected');
create type "MessageDirection" as enum ('inbound', 'outbound');
create type "DeliveryStatus" as enum (
  'received',
  'processed',
  'ignored',
  'failed',
  'unattributed',
  'rejected',
  'held'
);

-- Ids ─────────────────────────────────────────────────────────────────────────────────────────────

-- Distinguishes ids of one millisecond, and positions of entities (docs/adr/0003).
create sequence entity_sequence;

-- An id made from a time in milliseconds, by default the current time: the time, and in the lower
-- 21 bits a number that distinguishes ids of one millisecond. Later ids are greater
-- (docs/adr/0034).
create function time_id(ms bigint default (extract(epoch from clock_timestamp()) * 1000)::bigint)
returns bigint language sql as $$
  SELECT (ms << 21) | (nextval('entity_sequence') & 2097151)
$$;

-- Organizations and people (libs/identity) ────────────────────────────────────────────────────────

create table organizations (
  id text not null,
  slug text not null,
  name text not null,
  external_id text,
  timezone text not null default 'UTC',
  settings jsonb not null default '{}',
  external_updated_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  verified boolean not null default false,
  no serial not null,
  primary key (id)
);
create unique index organizations_external_id_key on organizations (external_id);
create unique index organizations_no_key on organizations (no);
create unique index organizations_slug_key on organizations (slug);

create table users (
  id text not null,
  external_id text,
  email text,
  first_name text,
  last_name text,
  external_updated_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  verified boolean not null default false,
  primary key (id)
);
create unique index users_external_id_key on users (external_id);

-- The e-mail address of a password is the one to sign in with. Events of the identity provider
-- never change it. Several people may have the same one; who proved it is in the unique index
-- passwords_proved_email_key (docs/adr/0083).
create table passwords (
  user_id text not null,
  email text not null,
  hash text not null,
  changed_at timestamptz(3) not null default current_timestamp,
  email_proved_at timestamptz(3),
  email_proof_tenant integer,
  primary key (user_id),
  foreign key (user_id) references users (id) on update cascade on delete cascade
);
-- An address is proved by one account, and within an organization by one more (docs/adr/0083).
create unique index passwords_proved_email_key
  on passwords (email, coalesce(email_proof_tenant, 0))
  where email_proved_at is not null;
create index passwords_email_idx on passwords (email);

-- The salt of all passwords of an e-mail address: one hash compares a password with all of them.
create table password_salts (
  email text not null,
  salt text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (email)
);

-- A link for a person, which works once. `hash` is SHA-256 of its token. A new one of the same
-- purpose replaces it.
create table person_links (
  user_id text not null,
  purpose text not null,
  hash bytea not null,
  email text,
  proof_tenant integer,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  primary key (user_id, purpose),
  foreign key (user_id) references users (id) on update cascade on delete cascade
);
create unique index person_links_hash_key on person_links (hash);

-- Who a person is at an OpenID provider.
create table user_identities (
  issuer text not null,
  subject text not null,
  user_id text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (issuer, subject),
  foreign key (user_id) references users (id) on update cascade on delete cascade
);
create index user_identities_user_id_idx on user_identities (user_id);

-- A signed-in browser. `hash` is SHA-256 of the token in its cookie.
create table sessions (
  id text not null,
  hash bytea not null,
  user_id text not null,
  address text,
  user_agent text,
  created_at timestamptz(3) not null default current_timestamp,
  last_seen_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  is_kept boolean not null default false,
  primary key (id),
  foreign key (user_id) references users (id) on update cascade on delete cascade
);
create unique index sessions_hash_key on sessions (hash);
create index sessions_user_id_idx on sessions (user_id);

-- A link that makes the first person who opens it a member. `hash` is SHA-256 of its token.
create table invitations (
  id text not null,
  tenant integer not null,
  role "MembershipRole" not null,
  email text,
  hash bytea not null,
  invited_by text,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  accepted_at timestamptz(3),
  accepted_by text,
  revoked_at timestamptz(3),
  invited_by_key text,
  is_by_command boolean not null default false,
  mail_hash bytea,
  mail_proof_tenant integer,
  primary key (id),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade
);
create unique index invitations_hash_key on invitations (hash);
create index invitations_tenant_created_at_id_idx on invitations (tenant, created_at, id);

create table memberships (
  id text not null,
  tenant integer not null,
  user_id text not null,
  role "MembershipRole" not null,
  external_id text,
  external_updated_at timestamptz(3),
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  verified boolean not null default false,
  primary key (id),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade,
  foreign key (user_id) references users (id) on update cascade on delete cascade
);
create unique index memberships_external_id_key on memberships (external_id);
create unique index memberships_tenant_user_id_key on memberships (tenant, user_id);
create index memberships_user_id_idx on memberships (user_id);

-- Objects deleted at the identity provider; late events do not restore them. Kinds: organization,
-- membership.
create table identity_tombstones (
  kind text not null,
  external_id text not null,
  deleted_at timestamptz(3) not null default current_timestamp,
  signed boolean not null default true,
  primary key (kind, external_id)
);

-- The secret is shown once and never stored: `hash` is SHA-256 of the whole key.
create table api_keys (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  name text not null,
  hash bytea not null,
  prefix text not null,
  permissions text[],
  role text,
  expires_at timestamptz(3),
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  primary key (id),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade
);
create unique index api_keys_hash_key on api_keys (hash);
create index api_keys_tenant_environment_idx on api_keys (tenant, environment);

-- A key that a web page may show. It opens one agent or router to visitors of the listed origins.
create table publishable_keys (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  name text not null,
  key text not null,
  agent_slug text,
  router_slug text,
  origins text[] not null,
  per_visitor integer not null,
  per_address integer not null,
  per_key integer not null,
  secret bytea not null,
  revoked_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  constraint publishable_keys_one_answerer check (num_nonnulls(agent_slug, router_slug) = 1),
  primary key (id),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade
);
create unique index publishable_keys_key_key on publishable_keys (key);
create index publishable_keys_tenant_environment_idx on publishable_keys (tenant, environment);

-- The hard delete of an organization with all its rows. Survives restarts, and reports the deleted
-- rows.
create table organization_purges (
  id text not null,
  organization_id text not null,
  run_at timestamptz(3) not null,
  report jsonb not null default '{}',
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  external_id text,
  slug text,
  signed boolean not null default true,
  started_at timestamptz(3),
  stopped_at timestamptz(3),
  tenant integer not null,
  primary key (id)
);
create unique index organization_purges_organization_id_key
  on organization_purges (organization_id);
create index organization_purges_finished_at_run_at_idx
  on organization_purges (finished_at, run_at);

-- The audit log (libs/audit) ──────────────────────────────────────────────────────────────────────

-- What people, keys and commands changed. Rows are added and never updated.
create table audit_log (
  id bigint not null default time_id(),
  tenant integer not null,
  environment "Environment",
  action text not null,
  actor_type text not null,
  actor_id text,
  actor_name text,
  address text,
  target_type text,
  target_id text,
  before jsonb,
  after jsonb,
  request_id text,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (tenant, id)
);
create index audit_log_tenant_action_id_idx on audit_log (tenant, action, id);
create index audit_log_tenant_actor_id_id_idx on audit_log (tenant, actor_id, id);
create index audit_log_tenant_target_id_id_idx on audit_log (tenant, target_id, id);

-- Idempotency and integrations (libs/db) ──────────────────────────────────────────────────────────

-- First responses to requests with an Idempotency-Key, kept for 24 hours.
create table idempotency_records (
  id text not null,
  tenant integer not null,
  caller_id text not null,
  operation text not null,
  key text not null,
  request_hash bytea not null,
  status integer,
  body text,
  locked_until timestamptz(3) not null,
  created_at timestamptz(3) not null default current_timestamp,
  expires_at timestamptz(3) not null,
  entity_id text,
  primary key (id, tenant)
);
create unique index idempotency_records_caller_id_operation_key_tenant_key
  on idempotency_records (caller_id, operation, key, tenant);
create index idempotency_records_expires_at_idx on idempotency_records (expires_at);
create index idempotency_records_tenant_idx on idempotency_records (tenant);

create table integrations (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  provider text not null,
  active boolean not null default true,
  config jsonb not null default '{}',
  secrets bytea,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  primary key (id, tenant)
);
create unique index integrations_tenant_environment_provider_key
  on integrations (tenant, environment, provider);
create index integrations_provider_active_idx on integrations (provider, active);

-- Definitions, written by `parley push` (libs/resources) ──────────────────────────────────────────

-- `json`, not `jsonb`, so that a pull returns keys in their order.

-- One row per environment. `version` increases with every push (`expectedVersion` of sync).
create table environment_states (
  tenant integer not null,
  environment "Environment" not null,
  version integer not null default 0,
  updated_at timestamptz(3) not null,
  primary key (tenant, environment)
);

-- The identity of an agent, shared by both environments. Its configurations define what it does.
create table agents (
  id text not null,
  tenant integer not null,
  slug text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (id, tenant),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade
);
create unique index agents_tenant_slug_key on agents (tenant, slug);

create table agent_configs (
  id text not null,
  agent_id text not null,
  environment "Environment" not null,
  name text not null,
  revision integer not null default 1,
  definition json not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  tenant integer not null,
  primary key (id, tenant),
  foreign key (agent_id, tenant) references agents (id, tenant)
    on update cascade on delete cascade
);
create unique index agent_configs_agent_id_environment_tenant_key
  on agent_configs (agent_id, environment, tenant);

-- Roles (libs/permissions) ────────────────────────────────────────────────────────────────────────

-- Policies, scope rules and field masks are read together, so they are stored as one document
-- (contracts: RoleDefinition).
create table roles (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  slug text not null,
  name text not null,
  revision integer not null default 1,
  definition json not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  primary key (id, tenant)
);
create unique index roles_tenant_environment_slug_key on roles (tenant, environment, slug);

-- Custom tools (libs/tools) ───────────────────────────────────────────────────────────────────────

-- A custom tool, which the tool executor runs.
create table tools (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  name text not null,
  revision integer not null default 1,
  definition json not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  primary key (id, tenant)
);
create unique index tools_tenant_environment_name_key on tools (tenant, environment, name);

-- A value that the handlers of tools which declare its name receive.
create table tool_secrets (
  tenant integer not null,
  environment "Environment" not null,
  name text not null,
  value bytea not null,
  set_at timestamptz(3) not null default current_timestamp,
  primary key (tenant, environment, name)
);

-- Triggers (libs/triggers) ────────────────────────────────────────────────────────────────────────

create table triggers (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  slug text not null,
  name text not null,
  enabled boolean not null default true,
  revision integer not null default 1,
  entity_type text,
  action text,
  definition json not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  next_tick_at timestamptz(3),
  tick_schedule text,
  primary key (id, tenant)
);
create unique index triggers_tenant_environment_slug_key on triggers (tenant, environment, slug);
create index triggers_tenant_environment_entity_type_action_idx
  on triggers (tenant, environment, entity_type, action);
-- The next tick of each schedule.
create index triggers_cron_idx on triggers (next_tick_at) where entity_type is null;

create table trigger_runs (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  trigger_slug text not null,
  cause text not null,
  entity_id text,
  status "TriggerRunStatus" not null default 'scheduled',
  attempts integer not null default 0,
  max_attempts integer not null default 1,
  hops integer not null default 0,
  run_at timestamptz(3) not null,
  lease_until timestamptz(3),
  context jsonb not null,
  steps jsonb not null default '[]',
  error text,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  event_id bigint,
  fence integer not null default 0,
  enqueued_at timestamptz(3),
  request_id text,
  lease_expirations integer not null default 0,
  root text,
  refused_runs integer not null default 0,
  author jsonb,
  primary key (tenant, id)
);
create unique index trigger_runs_tenant_environment_trigger_slug_cause_key
  on trigger_runs (tenant, environment, trigger_slug, cause);
create index trigger_runs_tenant_environment_created_at_idx
  on trigger_runs (tenant, environment, created_at desc);
-- The runs that failed for good. Most did not.
create index trigger_runs_dead_idx on trigger_runs (tenant, environment, created_at desc)
  where status = 'dead';
-- Scheduled runs of all tenants, for the next one that is due.
create index trigger_runs_due_idx on trigger_runs (run_at) where status = 'scheduled';
-- Open runs of a tenant, by the time from which one may claim them.
create index trigger_runs_due_of_tenant_idx
  on trigger_runs (tenant, coalesce(lease_until, run_at))
  where status in ('scheduled', 'running')
    and coalesce(lease_until, run_at) is not null;
-- Held after a restore.
create index trigger_runs_held_idx on trigger_runs (tenant) where status = 'held';
-- The open runs of an entity, which run one after the other.
create index trigger_runs_of_entity_idx on trigger_runs (entity_id, event_id)
  where status in ('scheduled', 'running')
    and entity_id is not null;
-- Runs of a chain, which is limited (docs/adr/0039).
create index trigger_runs_root_idx on trigger_runs (tenant, root)
  where root is not null
    and refused_runs = 0;
-- Runs whose lease has expired.
create index trigger_runs_running_idx on trigger_runs (lease_until)
  where status = 'running'
    and lease_until is not null;

-- Entities (libs/entities) ────────────────────────────────────────────────────────────────────────

create table entity_types (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  slug text not null,
  name text not null,
  revision integer not null default 1,
  schema json not null,
  search_fields text[] not null default '{}',
  display_config json,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  indexed_fields text[] not null default array[]::text[],
  no serial not null,
  reindex jsonb,
  segment integer not null default 0,
  segment_floor bigint not null default 0,
  relayed_actions text[] not null default array[]::text[],
  event_keys text[],
  indexed_to bigint not null default 0,
  primary key (id, tenant)
);
create unique index entity_types_tenant_environment_slug_key
  on entity_types (tenant, environment, slug);
create unique index entity_types_tenant_no_key on entity_types (tenant, no);

-- Times are Unix milliseconds, as in the API. Index-only scans need the visibility map, which a
-- vacuum writes, soon after the inserts.
create table entities (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  status text not null,
  data jsonb not null,
  created_at bigint not null,
  updated_at bigint not null,
  part integer not null,
  pos bigint not null,
  search tsvector,
  segment integer not null,
  primary key (id, tenant)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.05
);
-- PostgreSQL then expects as many rows of each tenant as the largest one has. With the average, it
-- would read and sort all rows of a large tenant where it has to follow an index until a page is
-- full.
alter table entities alter column tenant set (n_distinct = 1);
-- Ascending: PostgreSQL then accepts (part, pos) as one condition, in both directions
-- (docs/adr/0003).
create unique index entities_part_pos_tenant_key on entities (part, pos, tenant);
-- Each word carries the number of its type, so that no tenant reads another tenant's lists. The
-- pending list is short because every search reads it.
create index entities_search_idx
  on entities using gin (search)
  with (fastupdate = on, gin_pending_list_limit = 128);
-- The notification of the payment provider has nothing but this token (entities_by_flow_token).
create index entities_flow_token_idx on entities ((data ->> 'flowToken'))
  where (data ->> 'flowToken') is not null;

-- One row for each scalar value in an entity's data, for filters and sorting by any field
-- (docs/adr/0003). Index-only scans need the visibility map, which a vacuum writes, soon after the
-- inserts.
create table entity_fields (
  tenant integer not null,
  part integer not null,
  segment integer not null,
  field integer not null,
  value bytea not null,
  pos bigint not null
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02,
  autovacuum_vacuum_scale_factor = 0.05
);
-- A filter or an order of any field is a range of this index.
create index entity_fields_tenant_part_segment_field_value_pos_idx
  on entity_fields (tenant, part, segment, field, value, pos);

-- The sets of field names of a type's entities, from which queries learn which entities lack a
-- field.
create table entity_shapes (
  type_no integer not null,
  shape bytea not null,
  fields integer[],
  tenant integer not null,
  primary key (tenant, type_no, shape)
);

create table entity_relations (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  relation text not null,
  from_id text not null,
  to_id text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (id, tenant)
);
create unique index entity_relations_tenant_environment_from_id_relation_to_id_key
  on entity_relations (tenant, environment, from_id, relation, to_id);
create index entity_relations_tenant_environment_to_id_relation_idx
  on entity_relations (tenant, environment, to_id, relation);

-- Events (libs/events) ────────────────────────────────────────────────────────────────────────────

-- Events, written in the transaction of the change that they record. Triggers and followers read
-- them here.
create table events (
  id bigint not null default time_id(),
  tenant integer not null,
  environment "Environment" not null,
  type text not null,
  entity_type text,
  entity_id text,
  payload jsonb not null,
  actor jsonb not null,
  hops integer not null default 0,
  request_id text,
  created_at timestamptz(3) not null default current_timestamp,
  relayed_at timestamptz(3),
  xid xid8 not null default pg_current_xact_id(),
  root text,
  primary key (tenant, id)
);
-- As in entities.
alter table events alter column tenant set (n_distinct = 1);
-- Ascending, as ids grow: new ones fill the last page of a tenant. Descending, pages stay half
-- empty.
create index events_tenant_entity_id_id_idx on events (tenant, entity_id, id);
create index events_tenant_environment_id_idx on events (tenant, environment, id);
create index events_tenant_environment_xid_id_idx on events (tenant, environment, xid, id);
-- Events whose triggers wait for an operator after a restore (docs/adr/0052).
create index events_held_idx on events (tenant) where relayed_at = '9999-01-01 00:00:00+00';
-- Events whose triggers are not planned yet.
create index events_unrelayed_idx on events (tenant, id) where relayed_at is null;

-- Conversations (libs/agents) ─────────────────────────────────────────────────────────────────────

create table routers (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  slug text not null,
  name text not null,
  revision integer not null default 1,
  definition json not null,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  primary key (id, tenant)
);
create unique index routers_tenant_environment_slug_key on routers (tenant, environment, slug);

create table threads (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  external_id text,
  channel text not null default 'api',
  agent_slug text,
  params jsonb not null default '{}',
  transfer_count integer not null default 0,
  last_message_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  state "ThreadState" not null default 'agent',
  status "ThreadStatus" not null default 'open',
  taken_over_by jsonb,
  taken_over_at timestamptz(3),
  resumes_at timestamptz(3),
  waiting_since timestamptz(3),
  waiting_reason text,
  notify_at timestamptz(3),
  assignee_id text,
  labels text[] not null default array[]::text[],
  erase_at timestamptz(3),
  primary key (id, tenant)
);
create unique index threads_tenant_environment_external_id_key
  on threads (tenant, environment, external_id);
-- The order of lists.
create index threads_tenant_environment_last_message_at_id_idx
  on threads (tenant, environment, last_message_at desc, id desc);
-- The threads that a person looks after. Most threads have none.
create index threads_assigned_idx
  on threads (tenant, environment, assignee_id, last_message_at desc, id desc)
  where assignee_id is not null;
-- The agent answers again, or members get an e-mail.
create index threads_due_idx on threads (tenant, least(resumes_at, notify_at))
  where state <> 'agent'
    and least(resumes_at, notify_at) is not null;
-- Threads of single requests, by the time when they are erased (due-threads.ts).
create index threads_erase_idx on threads (tenant, erase_at) where erase_at is not null;
-- The threads that wait for a person or that one answers. Most threads are in no such list.
create index threads_of_people_idx
  on threads (tenant, environment, state, last_message_at desc, id desc)
  where state <> 'agent';

-- Up to where a person has read a thread, and until when they have it open.
create table thread_visits (
  tenant integer not null,
  thread_id text not null,
  visitor_id text not null,
  visitor jsonb not null,
  read_at timestamptz(3),
  open_until timestamptz(3),
  typing_until timestamptz(3),
  primary key (tenant, visitor_id, thread_id) include (read_at),
  foreign key (thread_id, tenant) references threads (id, tenant)
    on update cascade on delete cascade
);
create index thread_visits_thread_id_tenant_idx on thread_visits (thread_id, tenant);

-- One turn of a thread: a message and the agent's answer. Turns of a thread run one at a time in
-- the order of `id`. The running turn holds a lease, so that a killed process does not block the
-- thread.
create table executions (
  id bigint not null default time_id(),
  tenant integer not null,
  environment "Environment" not null,
  thread_id text not null,
  agent_slug text,
  router_slug text,
  status "ExecutionStatus" not null default 'queued',
  lease_owner text,
  lease_until timestamptz(3),
  input text not null,
  output text,
  model text,
  iterations integer not null default 0,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  reasoning_tokens integer,
  steps jsonb not null default '[]',
  error text,
  request_id text,
  created_at timestamptz(3) not null default current_timestamp,
  started_at timestamptz(3),
  finished_at timestamptz(3),
  nested_model_calls integer not null default 0,
  caller_roles text,
  agent_revision integer,
  prompt_hash bytea,
  tool_call_count integer not null default 0,
  tool_error_count integer not null default 0,
  background jsonb,
  attempts integer not null default 0,
  finish_reason text,
  primary key (tenant, id),
  foreign key (thread_id, tenant) references threads (id, tenant)
    on update cascade on delete cascade
);
-- Lists read the first rows of each outcome, with and without tool errors, so that no filter reads
-- rows that it does not match (read-executions.ts has the same expressions).
create index executions_agent_outcome_idx on executions (
  tenant, environment, agent_slug,
  (case
    when status = 'succeeded' and output is null then 'stored'
    when status = 'succeeded' then 'succeeded'
    when status = 'failed' then 'failed'
    else 'open'
  end),
  (tool_error_count > 0),
  id
);
create index executions_outcome_idx on executions (
  tenant, environment,
  (case
    when status = 'succeeded' and output is null then 'stored'
    when status = 'succeeded' then 'succeeded'
    when status = 'failed' then 'failed'
    else 'open'
  end),
  (tool_error_count > 0),
  id
);
-- With the tenant, although the thread has one: PostgreSQL counts the tenant as a condition of its
-- own, would expect few rows of a thread, and read and sort all of them for the last ones.
create index executions_tenant_thread_id_id_idx on executions (tenant, thread_id, id);
-- Executions that the worker has to run, by the time from which they are due.
create index executions_due_idx on executions (tenant, coalesce(lease_until, created_at), id)
  where background is not null
    and status in ('queued', 'running')
    and coalesce(lease_until, created_at) is not null;
-- Open turns of a thread.
create index executions_of_thread_idx on executions (thread_id, id)
  where status in ('queued', 'running')
    and thread_id is not null;
-- Whether an execution still needs a prompt.
create index executions_prompt_idx on executions (tenant, prompt_hash)
  where prompt_hash is not null;

-- System prompts as they were sent to models, with the names of the tools that were offered. A row
-- exists as long as an execution has its hash (docs/adr/0058).
create table execution_prompts (
  tenant integer not null,
  hash bytea not null,
  text text not null,
  bytes integer not null,
  tools text[] not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (tenant, hash)
);

-- Figures of the executions that began in one hour. An empty agent or channel: all of them.
create table execution_statistics (
  tenant integer not null,
  environment "Environment" not null,
  agent_slug text not null,
  channel text not null,
  hour timestamptz(3) not null,
  messages integer not null,
  executions integer not null,
  failures integer not null,
  input_tokens bigint not null,
  output_tokens bigint not null,
  tool_calls integer not null,
  tool_errors integer not null,
  durations integer[] not null,
  primary key (tenant, environment, agent_slug, channel, hour)
);

-- The hour up to which the statistics of a tenant are complete.
create table execution_rollups (
  tenant integer not null,
  until timestamptz(3) not null,
  primary key (tenant)
);

create table thread_messages (
  id text not null,
  thread_id text not null,
  execution_id bigint not null,
  position integer not null,
  role "MessageRole" not null,
  content text not null,
  tool_calls jsonb,
  tool_call_id text,
  created_at timestamptz(3) not null default current_timestamp,
  tenant integer not null,
  author jsonb,
  channel_message_id text,
  primary key (id, tenant),
  foreign key (tenant, execution_id) references executions (tenant, id)
    on update cascade on delete cascade,
  foreign key (thread_id, tenant) references threads (id, tenant)
    on update cascade on delete cascade
);
create unique index thread_messages_tenant_execution_id_position_key
  on thread_messages (tenant, execution_id, position);
-- With the tenant, as in executions.
create index thread_messages_tenant_thread_id_execution_id_position_idx
  on thread_messages (tenant, thread_id, execution_id, position);

-- Written before a tool runs. A call that is still `started` after a crash is not repeated but
-- reported as unknown.
create table tool_calls (
  execution_id bigint not null,
  call_id text not null,
  name text not null,
  args jsonb not null,
  status "ToolCallStatus" not null default 'started',
  result jsonb,
  started_at timestamptz(3) not null default current_timestamp,
  finished_at timestamptz(3),
  tenant integer not null,
  primary key (tenant, execution_id, call_id),
  foreign key (tenant, execution_id) references executions (tenant, id)
    on update cascade on delete cascade
);

-- Channels and e-mail (libs/channels) ─────────────────────────────────────────────────────────────

create table channel_connections (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  channel text not null default 'whatsapp',
  external_customer_id text,
  phone_number_id text,
  phone_number text,
  status "ConnectionStatus" not null default 'pending',
  agent_slug text,
  router_slug text,
  webhook_id text,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  contact_type text,
  secret_fingerprint text,
  webhook_attempts integer not null default 0,
  webhook_try_at timestamptz(3),
  primary key (id)
);
create unique index channel_connections_phone_number_id_key
  on channel_connections (phone_number_id);
create index channel_connections_external_customer_id_idx
  on channel_connections (external_customer_id);
create index channel_connections_tenant_environment_idx
  on channel_connections (tenant, environment);

-- All identifiers of a contact on a channel (digits of a phone number, scoped user ids). They share
-- a thread.
create table contact_aliases (
  tenant integer not null,
  environment "Environment" not null,
  channel text not null,
  alias text not null,
  contact_id text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (tenant, environment, channel, alias)
);
create index contact_aliases_contact_id_idx on contact_aliases (contact_id);

-- Messages of channels. The messages that an agent sees are in thread_messages.
create table messages (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  connection_id text,
  direction "MessageDirection" not null,
  message_id text,
  contact text not null,
  type text not null,
  text text,
  media_url text,
  payload jsonb not null,
  thread_id text,
  status text not null,
  error text,
  idempotency_key text,
  sent_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz(3),
  answered_with text,
  origin text,
  primary key (id, tenant),
  foreign key (connection_id) references channel_connections (id)
    on update cascade on delete set null
);
create unique index messages_connection_id_message_id_tenant_key
  on messages (connection_id, message_id, tenant);
create unique index messages_tenant_environment_idempotency_key_key
  on messages (tenant, environment, idempotency_key);
create index messages_tenant_environment_contact_created_at_idx
  on messages (tenant, environment, contact, created_at desc);
-- Lists: all messages, and those with one status.
create index messages_tenant_environment_created_at_id_idx
  on messages (tenant, environment, created_at desc, id desc);
create index messages_tenant_environment_status_created_at_id_idx
  on messages (tenant, environment, status, created_at desc, id desc);
create index messages_tenant_thread_id_created_at_id_idx
  on messages (tenant, thread_id, created_at desc, id desc);
-- Open work: messages to answer.
create index messages_due_inbound_idx on messages (tenant, coalesce(lease_until, created_at), id)
  where direction = 'inbound'
    and status in ('received', 'answering')
    and connection_id is not null
    and coalesce(lease_until, created_at) is not null;
-- Open work: messages to send.
create index messages_due_outbound_idx on messages (tenant, coalesce(lease_until, created_at), id)
  where direction = 'outbound'
    and status in ('queued', 'sending')
    and connection_id is not null
    and coalesce(lease_until, created_at) is not null;
-- Held after a restore.
create index messages_held_idx on messages (tenant) where status = 'held';
-- The first open message of each contact, which the others wait for.
create index messages_of_contact_idx on messages (connection_id, contact, sent_at, id)
  where direction = 'inbound'
    and status in ('received', 'answering')
    and connection_id is not null
    and contact is not null;
-- The first open message to each contact, which the others wait for.
create index messages_outbound_lane_idx on messages (tenant, environment, contact, id)
  where direction = 'outbound'
    and status in ('queued', 'sending')
    and connection_id is not null;
-- For the health report, which reads only failures.
create index messages_undelivered_idx on messages (tenant, environment, created_at)
  where status in ('failed', 'unknown');

-- The file of a message.
create table blobs (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  status text not null,
  url text,
  filename text,
  content_type text,
  bytes bytea,
  error text,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  primary key (id, tenant),
  foreign key (id, tenant) references messages (id, tenant) on update cascade on delete cascade
);
-- Pictures and sound are compressed already.
alter table blobs alter column bytes set storage external;
-- Files that are still to be fetched.
create index blobs_due_idx on blobs (tenant, coalesce(lease_until, created_at), id)
  where status in ('pending', 'fetching');

create table emails (
  id text not null,
  tenant integer not null,
  environment "Environment" not null,
  provider_id text,
  idempotency_key text not null,
  "from" text not null,
  "to" text[],
  subject text not null,
  status text not null,
  error text,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  payload jsonb,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz(3),
  primary key (id, tenant)
);
create unique index emails_provider_id_tenant_key on emails (provider_id, tenant);
create unique index emails_tenant_environment_idempotency_key_key
  on emails (tenant, environment, idempotency_key);
-- Lists: all e-mails, and those with one status.
create index emails_tenant_environment_created_at_id_idx
  on emails (tenant, environment, created_at desc, id desc);
create index emails_tenant_environment_status_created_at_id_idx
  on emails (tenant, environment, status, created_at desc, id desc);
-- Open work.
create index emails_due_idx on emails (tenant, coalesce(lease_until, created_at), id)
  where status in ('queued', 'sending')
    and coalesce(lease_until, created_at) is not null;
-- Held after a restore.
create index emails_held_idx on emails (tenant) where status = 'held';
-- For the health report, which reads only failures.
create index emails_undelivered_idx on emails (tenant, environment, created_at)
  where status in ('failed', 'unknown', 'bounced');

-- The latest status that a provider reported for each message, including messages that are not
-- stored here yet.
create table provider_statuses (
  provider text not null,
  external_id text not null,
  status text not null,
  rank integer not null,
  error text,
  updated_at timestamptz(3) not null default current_timestamp,
  primary key (provider, external_id)
);
create index provider_statuses_updated_at_idx on provider_statuses (updated_at);

-- Payments and billing (libs/payments) ────────────────────────────────────────────────────────────

-- Data of a `payment` entity that must be unique, or by which a payment is found without its
-- tenant.
create table payment_orders (
  payment_id text not null,
  tenant integer not null,
  environment "Environment" not null,
  call_key text,
  attempt integer not null default 1,
  lease_until timestamptz(3),
  flow_token text,
  closed_at timestamptz(3),
  created_at timestamptz(3) not null default current_timestamp,
  primary key (payment_id, tenant),
  foreign key (tenant) references organizations (no) on update cascade on delete cascade
);
create unique index payment_orders_flow_token_tenant_key on payment_orders (flow_token, tenant);
create unique index payment_orders_tenant_environment_call_key_key
  on payment_orders (tenant, environment, call_key);
-- Payments whose link is not created yet.
create index payment_orders_open_idx on payment_orders (tenant, environment, created_at)
  where closed_at is null;

-- Position of the reconciliation of an integration, from which the next run continues.
create table payment_reconciliations (
  integration_id text not null,
  cursor text,
  lease_owner text,
  lease_until timestamptz(3),
  finished_at timestamptz(3),
  problem text,
  tenant integer not null,
  primary key (integration_id, tenant),
  foreign key (integration_id, tenant) references integrations (id, tenant)
    on update cascade on delete cascade
);

-- One row per order of the billing platform: credited and refunded amounts, cumulative, in cents.
create table processed_payments (
  id text not null,
  tenant integer not null,
  provider text not null,
  order_id text not null,
  credited_cents integer not null default 0,
  refunded_cents integer not null default 0,
  created_at timestamptz(3) not null default current_timestamp,
  updated_at timestamptz(3) not null,
  paid_at timestamptz(3),
  primary key (id)
);
create unique index processed_payments_provider_order_id_key
  on processed_payments (provider, order_id);
create index processed_payments_tenant_idx on processed_payments (tenant);

-- The ledger. The balance is the sum of its entries, which are never updated.
create table credit_entries (
  id text not null,
  tenant integer not null,
  amount_cents integer not null,
  reason text not null,
  cause text not null,
  created_at timestamptz(3) not null default current_timestamp,
  primary key (id, tenant)
);
create unique index credit_entries_cause_tenant_key on credit_entries (cause, tenant);
create index credit_entries_tenant_created_at_idx on credit_entries (tenant, created_at);

-- Deliveries of providers (libs/webhooks) ─────────────────────────────────────────────────────────

-- A delivery of a provider, stored before it is acknowledged. The job has its id.
create table webhook_deliveries (
  id text not null,
  provider text not null,
  delivery_id text not null,
  path text not null,
  event_type text,
  headers jsonb not null,
  body bytea not null,
  tenant integer,
  environment "Environment",
  status "DeliveryStatus" not null default 'received',
  attempts integer not null default 0,
  reason text,
  received_at timestamptz(3) not null default current_timestamp,
  processed_at timestamptz(3),
  signed boolean not null default false,
  replay_id text,
  primary key (id, delivery_id)
);
create unique index webhook_deliveries_provider_delivery_id_key
  on webhook_deliveries (provider, delivery_id);
create index webhook_deliveries_tenant_received_at_idx
  on webhook_deliveries (tenant, received_at desc);
-- Open work. Deliveries without an organization count as those of tenant 0.
create index webhook_deliveries_due_idx
  on webhook_deliveries (coalesce(tenant, 0), received_at, id)
  where status = 'received'
    and coalesce(tenant, 0) is not null;
-- Without open deliveries: PostgreSQL has no statistics of them and would read all, by their
-- status, for each tenant.
create index webhook_deliveries_ended_idx on webhook_deliveries (status, received_at)
  where status <> 'received';
-- For the health report, which reads only failures.
create index webhook_deliveries_failed_idx on webhook_deliveries (tenant, received_at)
  where status in ('failed', 'unattributed');
-- Held after a restore.
create index webhook_deliveries_held_idx on webhook_deliveries (tenant) where status = 'held';
-- Progress of a replay.
create index webhook_deliveries_tenant_replay_id_idx on webhook_deliveries (tenant, replay_id)
  where replay_id is not null;

-- Functions ───────────────────────────────────────────────────────────────────────────────────────

-- The id of an organization, for statements that know its number.
create function organization_id(tenant integer)
returns text language sql stable strict parallel safe as $$
  SELECT id FROM organizations WHERE no = tenant
$$;

-- Finds entities by the token of a payment. In a small table the planner prefers a sequential scan
-- to the index, and then reads `data` of every entity, which takes seconds when some are large. So
-- sequential scans are off in this function.
create function entities_by_flow_token(p_token text)
returns table (id text, tenant integer, environment "Environment")
language sql stable set enable_seqscan = off as $$select e.id, e.tenant, e.environment from entities e where e.data ->> 'flowToken' = p_token limit 5$$;

-- A JSON value as bytes that sort like it: null, false, true, numbers, strings by code point,
-- objects and arrays. The same as encodeValue in libs/entities, which a test compares. Neither
-- strict nor immutable (convert_to is not): PostgreSQL then writes the body into the statement
-- instead of calling it, which takes a tenth of the time.
create function entity_index_key(value jsonb)
returns bytea language sql stable parallel safe as $$
  SELECT CASE jsonb_typeof(value)
    WHEN 'null' THEN '\x10'::bytea
    WHEN 'boolean' THEN CASE WHEN value = 'true' THEN '\x21'::bytea ELSE '\x20'::bytea END
    WHEN 'number' THEN '\x30'::bytea || CASE WHEN value::numeric >= 0
      THEN set_byte(float8send(value::float8), 0, get_byte(float8send(value::float8), 0) | 128)
      ELSE int8send(~ (('x' || encode(float8send(value::float8), 'hex'))::bit(64)::int8)) END
    WHEN 'string' THEN '\x40'::bytea || substr(convert_to(value #>> '{}', 'UTF8'), 1, 100)
    WHEN 'object' THEN '\x50'::bytea
    WHEN 'array' THEN '\x50'::bytea END
$$;

-- An object without its masked fields. `masks` has one member for each masked field: "hide",
-- "redact", or { "array": "hide" | "redact", "fields": masks } where the masks lie deeper. "array"
-- is what happens to a field that is an array, because its elements cannot be told apart. One pass
-- over the object, whatever the number of masks. The result is json, because jsonb_object_agg takes
-- a time that is quadratic in the size of the object. The function calls itself, so its body cannot
-- be checked before it exists.
set check_function_bodies = off;
create function masked_fields(object jsonb, masks jsonb)
returns json language sql immutable parallel safe as $$
  SELECT coalesce(json_object_agg(f.key, CASE
    WHEN m.mask IS NULL THEN f.value::json
    WHEN m.mask = '"redact"' OR jsonb_typeof(f.value) = 'array' THEN '"[redacted]"'
    WHEN jsonb_typeof(f.value) = 'object' THEN masked_fields(f.value, m.mask -> 'fields')
    ELSE f.value::json END), '{}')
  FROM jsonb_each(object) f CROSS JOIN LATERAL (SELECT masks -> f.key AS mask) m
  WHERE m.mask IS DISTINCT FROM '"hide"'
    AND NOT (jsonb_typeof(f.value) = 'array' AND coalesce(m.mask ->> 'array', '') = 'hide')
$$;
reset check_function_bodies;

-- Stores a message as the next turn of its thread.
--
-- Which thread a message belongs to (docs/reference/chat.md#threads):
--   with a thread id      that thread, which must exist in the environment and not be the one of a
--                         single request
--   with an external id   the thread that the environment has under this id, else a new one with it
--   with neither          a new thread
-- Its params are merged into those that the thread already has, at most max_params_bytes together,
-- and a closed thread is opened. After four hours without a message the count of transfers starts
-- again at 0 and a router chooses the agent again; until then the agent that a router transferred
-- the thread to keeps it.
--
-- One call reads the agent, locks the thread's row and stores the turn with its message. The lock
-- makes ids of turns follow the order in which messages arrive. The turn's state in the result:
--   stored    a person has taken the thread over or was asked for, and the agent does not answer
--   queued    earlier turns of the thread have not finished (turn-queue.ts)
--   running   it begins at once, and the result contains the thread's history
-- A result without a turn means: no definition, the agent is missing or has no configuration in the
-- environment; no thread id, there is no such thread; else the agent declares params, which the
-- caller checks before it calls again.
create function enter_thread(
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
