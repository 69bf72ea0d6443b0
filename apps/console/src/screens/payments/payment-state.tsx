import { useTexts } from '../../i18n';
import { Status } from '../../parts/status';
import type { PaymentStatus } from './payment-data';
import { paymentsCatalog } from './texts';

/** A payment is an entity, so its status may be any value. */
export function PaymentState({ status }: { status: string }) {
  const payments = useTexts(paymentsCatalog);
  return <Status status={status} text={payments.statuses[status as PaymentStatus] ?? status} />;
}
