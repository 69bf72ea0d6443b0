import { getRouteApi, linkOptions } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { usePlace } from '../../frame/workspace';
import { useTexts } from '../../i18n';
import { ViewTabs } from '../../parts/view-tabs';
import { paymentsCatalog } from './texts';

const to = '/$organization/$environment/payments';
const route = getRouteApi(to);

/** The views of the screen: payments of customers, and the credits of the organization. */
export function PaymentTabs({ children }: { children?: ReactNode }) {
  const payments = useTexts(paymentsCatalog);
  const params = usePlace();
  const { view } = route.useSearch();
  return (
    <ViewTabs
      label={payments.views}
      views={[
        [payments.payments, linkOptions({ to, params, search: {} }), view !== 'credits'],
        [payments.credits, linkOptions({ to, params, search: { view: 'credits' } }), view === 'credits'],
      ]}
    >
      {children}
    </ViewTabs>
  );
}
