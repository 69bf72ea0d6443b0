-- An address is proved by one account, and within an organization by one more (docs/adr/0083).
DROP INDEX CONCURRENTLY IF EXISTS "passwords_proved_email_key";
CREATE UNIQUE INDEX CONCURRENTLY "passwords_proved_email_key" ON "passwords" ("email", (coalesce("email_proof_tenant", 0)))
  WHERE "email_proved_at" IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS "passwords_email_idx";
CREATE INDEX CONCURRENTLY "passwords_email_idx" ON "passwords" ("email");
