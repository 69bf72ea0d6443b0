import { randomBytes, randomUUID } from 'node:crypto';
import type { Environment, Scope } from '@parley/contracts';
import { type Db, createDb, createSecretBox, saveIntegration } from '@parley/db';
import { type Entities, createEntities } from '@parley/entities';
import type { Origin } from '@parley/events';
import { type Payments, createPayments } from '../create-payments';
import type { PaymentObservation, PaymentsDeps } from '../deps';
import { ensurePaymentType } from '../payment-type';

export const origin: Origin = {
  actor: { type: 'agent', slug: 'seller', roles: [] },
  requestId: 'req_1',
};
export const paymentInput = {
  ...origin,
  amount: 12_000,
  description: 'Pedido 1',
  customerEmail: 'buyer@example.com',
};

export interface TestPayments {
  db: Db;
  entities: Entities;
  payments: Payments;
  secretsKey: string;
  observed: PaymentObservation[];
  logged: { level: string; message: string }[];
  /** A second instance on the same database, like another process. */
  other(more?: Partial<PaymentsDeps>): Payments;
  /** Configures Flow in an environment. */
  configure(
    scope: Scope,
    keys: { apiKey: string; secretKey: string },
    config?: Record<string, string>,
  ): Promise<void>;
  dataOf(scope: Scope, id: string): Promise<Record<string, unknown>>;
  /** Types of the events about an entity, in order. */
  eventsOf(id: string): Promise<string[]>;
  /** Moves creation times into the past, and lets the leases of open orders expire. */
  age(ms: number, id?: string): Promise<void>;
  stop(): Promise<void>;
}

/** The payments library on its own database, with a stand-in for Flow. */
export function startPayments(
  database: { url: string; drop(): Promise<void> },
  flow: { url: string },
): TestPayments {
  const secretsKey = randomBytes(32).toString('base64');
  const box = createSecretBox(secretsKey);
  const db = createDb({ databaseUrl: database.url });
  const entities = createEntities({ db });
  const observed: PaymentObservation[] = [];
  const logged: { level: string; message: string }[] = [];
  const logAt = (level: string) => (_fields: Record<string, unknown>, message: string) => {
    logged.push({ level, message });
  };
  const deps: PaymentsDeps = {
    db,
    entities,
    box,
    publicUrl: 'https://svc.example.com',
    log: { info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
    observe: (observation) => observed.push(observation),
  };
  return {
    db,
    entities,
    payments: createPayments(deps),
    secretsKey,
    observed,
    logged,
    other: (more = {}) => createPayments({ ...deps, ...more }),
    async configure(scope, secrets, config = {}) {
      await saveIntegration(db, box, scope, {
        provider: 'flow',
        config: { apiUrl: flow.url, ...config },
        secrets,
      });
      await ensurePaymentType(db, scope);
    },
    async dataOf(scope, id) {
      const found = await entities.get(scope, { type: 'payment', id });
      if (!found.ok) throw new Error(found.reason);
      return found.entity.value.data;
    },
    async eventsOf(id) {
      const { rows } = await db.pool.query<{ type: string }>(
        'select type from events where entity_id = $1 order by id',
        [id],
      );
      return rows.map(({ type }) => type);
    },
    async age(ms, id) {
      await db.pool.query(
        'update entities set created_at = created_at - $1 where $2::text is null or id = $2',
        [ms, id],
      );
      await db.pool.query(
        `update payment_orders set created_at = now() - make_interval(secs => $1), lease_until = now() - interval '1 s'
         where closed_at is null and ($2::text is null or payment_id = $2)`,
        [ms / 1000, id ?? null],
      );
    },
    async stop() {
      await entities.settled();
      await db.close();
      await database.drop();
    },
  };
}

export const newKeys = () => ({ apiKey: `KEY-${randomUUID()}`, secretKey: randomUUID() });

export const inEnvironment = ({ scope }: { scope: Scope }, environment: Environment): Scope => ({
  ...scope,
  environment,
});
