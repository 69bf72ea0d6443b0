import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTexts } from '../../i18n';
import { base, linkTo } from '../../parts/link';
import { ViewTabs } from '../../parts/view-tabs';
import { paymentsCatalog } from './texts';

const to = 'payments';
const route = getRouteApi(`${base}/${to}`);

/** The views of the screen: payments of customers, and the credits of the organization. */
export function PaymentTabs({ children }: { children?: ReactNode }) {
  const payments = useTexts(paymentsCatalog);
  const { view } = route.useSearch();
  return (
    <ViewTabs
      label={payments.views}
      views={[
        [payments.payments, linkTo({ to }), view !== 'credits'],
        [payments.credits, linkTo({ to, search: { view: 'credits' } }), view === 'credits'],
      ]}
    >
      {children}
    </ViewTabs>
  );
}
