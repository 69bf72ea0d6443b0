-- Addresses that exist count as proved. So do those that the previous version inserts, until the default is removed.
ALTER TABLE "passwords"
  ADD COLUMN "email_proved_at" TIMESTAMPTZ(3) DEFAULT now(),
  ADD COLUMN "email_proof_tenant" INTEGER;
