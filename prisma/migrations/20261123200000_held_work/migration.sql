-- Work that was open in a restored backup waits for an operator (docs/adr/0052). Statements that claim work do not name the
-- status, so it costs them nothing.
ALTER TYPE "TriggerRunStatus" ADD VALUE 'held';
ALTER TYPE "DeliveryStatus" ADD VALUE 'held';
