import { newId, saveIntegration } from '@parley/db';
import { createEntities } from '@parley/entities';
import { ensurePaymentType } from '@parley/payments';
import type { World } from '../create-test-api';
import type { Prepare } from './sample';

/** Creates a payment without an order at the provider, and returns its id. */
export async function payment({ db, scope }: World): Promise<string> {
  await ensurePaymentType(db, scope);
  const entities = createEntities({ db });
  const data = {
    status: 'draft',
    amount: 24990,
    currency: 'CLP',
    description: 'Order 1',
    customerEmail: 'a@b.cl',
  };
  const created = await entities.create(scope, {
    type: 'payment',
    data,
    actor: { type: 'system' },
  });
  await entities.settled();
  if (!created.ok) throw new Error(JSON.stringify(created));
  return created.entity.id;
}

const thePayment: Prepare = async (world) => ({ params: { id: await payment(world) } });

export const paymentSamples = {
  async listPayments(world) {
    await payment(world);
    return { query: { status: 'draft' } };
  },
  getPayment: thePayment,
  reconcilePayment: thePayment,
  async reconcilePayments({ api, db, scope }) {
    const config = { apiUrl: 'http://127.0.0.1:1' };
    await saveIntegration(db, api.deps.box, scope, {
      provider: 'flow',
      config,
      secrets: { apiKey: 'k', secretKey: 's' },
    });
    return { body: { olderThanMinutes: 0 } };
  },
  getCredits: async () => ({}),
  async listCreditEntries({ db, scope }) {
    const id = newId('credit');
    await db.pool.query(
      `insert into credit_entries (id, tenant, amount_cents, reason, cause) values ($1, $2, 5000, 'Order paid', $1)`,
      [id, scope.tenant],
    );
    return {};
  },
} satisfies Record<string, Prepare>;
