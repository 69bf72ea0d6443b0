-- An order may be refunded before it was credited, or cost nothing: whether it was paid is not told by the amounts.
ALTER TABLE "processed_payments" ADD COLUMN "paid_at" TIMESTAMPTZ(3);
