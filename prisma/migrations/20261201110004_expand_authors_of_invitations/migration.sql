-- The key or command that made an invitation, and the secret of the e-mail that carried its link.
ALTER TABLE "invitations"
  ADD COLUMN "invited_by_key" TEXT,
  ADD COLUMN "is_by_command" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "mail_hash" BYTEA,
  ADD COLUMN "mail_proof_tenant" INTEGER;
