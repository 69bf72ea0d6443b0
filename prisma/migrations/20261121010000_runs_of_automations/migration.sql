-- Runs of automations: who holds one (the fence), the change that it is about, when its job was last sent.
ALTER TABLE "trigger_runs"
  ADD COLUMN "event_id" BIGINT,
  ADD COLUMN "fence" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "enqueued_at" TIMESTAMPTZ(3),
  ADD COLUMN "request_id" TEXT;

-- When a cron trigger is due next, and for which schedule that was worked out.
ALTER TABLE "triggers"
  ADD COLUMN "next_tick_at" TIMESTAMPTZ(3),
  ADD COLUMN "tick_schedule" TEXT;

-- Only what is not finished is ever looked for by its state: indexes of the rest would grow for nothing.
DROP INDEX "trigger_runs_status_run_at_idx";
DROP INDEX "trigger_runs_organization_id_environment_trigger_slug_entit_idx";
CREATE INDEX "trigger_runs_due_idx" ON "trigger_runs" ("run_at") WHERE "status" = 'scheduled';
CREATE INDEX "trigger_runs_leased_idx" ON "trigger_runs" ("lease_until") WHERE "status" = 'running';
CREATE INDEX "trigger_runs_lane_idx" ON "trigger_runs" ("entity_id", "event_id") WHERE "status" IN ('scheduled', 'running');
CREATE INDEX "trigger_runs_dead_idx" ON "trigger_runs" ("organization_id", "environment", "created_at" DESC) WHERE "status" = 'dead';
CREATE INDEX "triggers_cron_idx" ON "triggers" ("next_tick_at") WHERE "entity_type" IS NULL;

-- What happened before there was a relay fires nothing.
UPDATE "events" SET "relayed_at" = now() WHERE "relayed_at" IS NULL;

-- A new event waits for the relay, which is woken, when an automation may follow from it, any other is done with at
-- once. Hops above 5 stand for the end of a chain (libs/tools, triggers/hops). A semicolon inside a body is written
-- \x3B, as the migration engine would split the statement there.
CREATE FUNCTION "event_to_relay"() RETURNS trigger LANGUAGE plpgsql AS E'
begin
  if new.relayed_at is null then
    if new.hops <= 5 and new.entity_type is not null and exists (
      select from triggers t
      where t.organization_id = new.organization_id and t.environment = new.environment
        and t.entity_type = new.entity_type and t.enabled and new.type = ''entity.'' || t.action
    ) then
      perform pg_notify(''parley_events'', '''')\x3B
    else
      new.relayed_at := now()\x3B
    end if\x3B
  end if\x3B
  return new\x3B
end';

CREATE TRIGGER "event_to_relay" BEFORE INSERT ON "events" FOR EACH ROW EXECUTE FUNCTION "event_to_relay"();
