-- jsonb sorts keys, definitions come back from a pull as they were pushed.
ALTER TABLE "agent_configs" ALTER COLUMN "definition" SET DATA TYPE JSON;
ALTER TABLE "routers" ALTER COLUMN "definition" SET DATA TYPE JSON;
ALTER TABLE "roles" ALTER COLUMN "definition" SET DATA TYPE JSON;
ALTER TABLE "tools" ALTER COLUMN "definition" SET DATA TYPE JSON;
ALTER TABLE "triggers" ALTER COLUMN "definition" SET DATA TYPE JSON;
ALTER TABLE "entity_types" ALTER COLUMN "schema" SET DATA TYPE JSON,
ALTER COLUMN "display_config" SET DATA TYPE JSON;
