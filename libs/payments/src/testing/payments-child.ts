import type { Scope } from '@parley/contracts';
import { createDb, createSecretBox, isDatabaseUnavailable } from '@parley/db';
import { createEntities } from '@parley/entities';
import { createPayments } from '../create-payments';
import type { PaymentStep } from '../deps';
import { paymentInput } from './start-payments';

/** The task of a test process, given as its only argument in JSON. */
export interface ChildTask {
  databaseUrl: string;
  secretsKey: string;
  /** Creates this payment, and kills itself at the step. */
  create?: { scope: Scope; callKey: string; killAt: PaymentStep };
  /**
   * After a line on standard input, confirms every token in random order while it
   * reconciles repeatedly.
   */
  race?: true;
}

const task = JSON.parse(process.argv[2]!) as ChildTask;
// The process ends with the test that started it.
process.stdin.on('end', () => process.exit(1));
const db = createDb({ databaseUrl: task.databaseUrl, poolSize: 6 });
const payments = createPayments({
  db,
  entities: createEntities({ db }),
  box: createSecretBox(task.secretsKey),
  publicUrl: 'https://svc.example.com',
  log: { info: () => {}, warn: () => {}, error: () => {} },
  onStep(step) {
    if (step === task.create?.killAt) process.kill(process.pid, 'SIGKILL');
  },
});

async function race(): Promise<void> {
  const { rows } = await db.pool.query<{ flow_token: string }>(
    'select flow_token from payment_orders',
  );
  const tokens = rows.map(({ flow_token: token }) => token);
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  let isOver = false;
  let changed = 0;
  const queue = shuffled(tokens).values();
  const confirm = async () => {
    for (const token of queue) {
      const result = await retryUnavailable(() => payments.confirmByToken(token));
      if (result.ok && result.changed) changed += 1;
    }
  };
  const reconcile = async () => {
    while (!isOver) {
      const all = { olderThanMs: 0, perSecond: 10_000, maxPerIntegration: 10_000 };
      const report = await retryUnavailable(() => payments.reconcile(all));
      changed += report.paid;
    }
  };
  const reconciling = reconcile();
  await Promise.all([confirm(), confirm(), confirm()]);
  isOver = true;
  await reconciling;
  process.stdout.write(`${JSON.stringify({ changed })}\n`);
}

/** Retries, like a job, while a busy machine has no database connection. */
async function retryUnavailable<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
    }
  }
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function run(): Promise<void> {
  if (task.create) {
    const { scope, callKey } = task.create;
    await payments.create(scope, { ...paymentInput, callKey });
  }
  if (task.race) await race();
  await db.close();
  process.exit(0);
}

void run();
