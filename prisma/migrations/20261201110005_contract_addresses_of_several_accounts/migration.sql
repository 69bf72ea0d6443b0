-- Several accounts may have an address, and a new one has to prove it. The previous version expects one account for an address.
DROP INDEX "passwords_email_key";
ALTER TABLE "passwords" ALTER COLUMN "email_proved_at" DROP DEFAULT;
