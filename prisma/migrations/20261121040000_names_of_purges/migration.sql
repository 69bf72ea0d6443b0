-- The report of a purge outlives its organization, so it says itself whose it was.
ALTER TABLE "organization_purges" ADD COLUMN "external_id" TEXT, ADD COLUMN "slug" TEXT;

UPDATE "organization_purges" p SET "external_id" = o."external_id", "slug" = o."slug"
FROM "organizations" o WHERE o."id" = p."organization_id";
