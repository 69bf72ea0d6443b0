-- A delivery of Flow belongs to the environment of its payment (docs/reference/webhooks.md#organizations-of-deliveries). Earlier ones were
-- stored without it, and both environments could read and replay them. "escape" does not fail for any bytes, and leaves a token as it is.
UPDATE "webhook_deliveries" d
SET "environment" = p."environment"
FROM "payment_orders" p
WHERE d."provider" = 'flow' AND d."environment" IS NULL AND d."tenant" IS NOT NULL
  AND p."tenant" = d."tenant" AND p."flow_token" = substring(encode(d."body", 'escape') FROM '^token=([A-Za-z0-9._*-]+)$');
