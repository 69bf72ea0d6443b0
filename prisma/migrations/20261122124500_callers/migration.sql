-- A request may come from a person as well as from an API key.
ALTER TABLE "idempotency_records" RENAME COLUMN "api_key_id" TO "caller_id";
ALTER INDEX "idempotency_records_api_key_id_operation_key_key" RENAME TO "idempotency_records_caller_id_operation_key_key";
