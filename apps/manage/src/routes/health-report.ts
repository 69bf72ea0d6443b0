import { executionBacklogs } from '@parley/agents';
import { channelBacklogs } from '@parley/channels';
import type { Scope } from '@parley/contracts';
import {
  type Backlog,
  type Db,
  type Queryable,
  type SecretBox,
  listIntegrations,
} from '@parley/db';
import { paymentBacklogs } from '@parley/payments';
import type { Handler } from '@parley/service';
import { triggerBacklogs } from '@parley/triggers';
import { deliveryBacklogs } from '@parley/webhooks';
import { msOf, msOrNull } from '../page';

interface Handlers {
  getHealthReport: Handler<'getHealthReport'>;
}

type Report = Exclude<Awaited<ReturnType<Handlers['getHealthReport']>>, null>;
type Problem = Extract<Report, { problems: unknown }>['problems'][number];

/** What a kind of problem means, and how to fix it. */
type Remedy = Pick<Problem, 'kind' | 'state' | 'description' | 'operation' | 'command'>;

const counted: (Remedy & { counts: ((db: Queryable, scope: Scope) => Promise<Backlog>)[] })[] = [
  {
    kind: 'dead_trigger_runs',
    state: 'dead',
    description:
      'Trigger runs that failed in all their attempts. Retry them after you have fixed the cause.',
    operation: 'POST /v1/trigger-runs/retry',
    command: 'parley triggers retry RUN',
    counts: [triggerBacklogs.deadRuns],
  },
  {
    kind: 'failed_webhook_deliveries',
    state: 'dead',
    description:
      'Webhook deliveries whose processing failed in all attempts. Replay them after you have fixed the cause.',
    operation: 'POST /v1/webhook-deliveries/replay',
    command: 'parley webhooks replay --status failed',
    counts: [deliveryBacklogs.failedDeliveries],
  },
  {
    kind: 'unattributed_webhook_deliveries',
    state: 'refused',
    description:
      'Webhook deliveries whose connection, order or person is not known. Each has its reason. Replay them when it is.',
    operation: 'POST /v1/webhook-deliveries/replay',
    command: 'parley webhooks replay --unattributed',
    counts: [deliveryBacklogs.unattributedDeliveries],
  },
  {
    kind: 'failed_messages',
    state: 'refused',
    description:
      'Messages that the channel refused. Each has its reason. Retry them when it no longer holds.',
    operation: 'POST /v1/messages/:id/retry',
    command: 'parley messages retry ID',
    counts: [channelBacklogs.failedMessages],
  },
  {
    kind: 'unknown_messages',
    state: 'dead',
    description:
      'Messages that may or may not have been sent. Ask the contact or look at the provider before you retry.',
    operation: 'POST /v1/messages/:id/retry',
    command: 'parley messages retry --anyway ID',
    counts: [channelBacklogs.unknownMessages],
  },
  {
    kind: 'failed_emails',
    state: 'refused',
    description: 'E-mails that were refused or bounced. Each has its reason.',
    operation: 'POST /v1/emails/:id/retry',
    command: 'parley emails list --status failed',
    counts: [channelBacklogs.failedEmails],
  },
  {
    kind: 'unknown_emails',
    state: 'dead',
    description:
      'E-mails that may or may not have been sent. Look at the provider before you retry.',
    operation: 'POST /v1/emails/:id/retry',
    command: 'parley emails list --status unknown',
    counts: [channelBacklogs.unknownEmails],
  },
  {
    kind: 'unregistered_connections',
    state: 'refused',
    description:
      'Numbers whose messages do not arrive, because the registration of their webhook failed. Connect them again.',
    operation: 'POST /v1/channels',
    command: 'parley channels connect',
    counts: [channelBacklogs.unregisteredConnections],
  },
  {
    kind: 'interrupted_payments',
    state: 'waiting',
    description:
      'Payments whose link was being created when a process ended. Reconciliation finds their orders.',
    operation: 'POST /v1/payments/reconcile',
    command: 'parley payments reconcile',
    counts: [paymentBacklogs.openOrders],
  },
  {
    kind: 'stalled_executions',
    state: 'waiting',
    description: 'Turns whose process no longer runs. The next message of their threads ends them.',
    operation: null,
    command: null,
    counts: [executionBacklogs.stalledExecutions],
  },
  {
    kind: 'held_work',
    state: 'waiting',
    description:
      'Work that was open in a restored backup. An operator of the installation releases or drops it.',
    operation: null,
    command: 'parley held list',
    counts: [
      triggerBacklogs.heldRuns,
      channelBacklogs.heldMessages,
      channelBacklogs.heldEmails,
      deliveryBacklogs.heldDeliveries,
    ],
  },
];

const unreadableIntegrations: Remedy = {
  kind: 'unreadable_integrations',
  state: 'refused',
  description: 'Integrations whose secrets no key of the installation decrypts. Set them again.',
  operation: 'PATCH /v1/integrations/:provider',
  command: 'parley integrations set PROVIDER',
};
const disabledIntegrations: Remedy = {
  kind: 'disabled_integrations',
  state: 'refused',
  description: 'Integrations that are switched off.',
  operation: 'PATCH /v1/integrations/:provider',
  command: 'parley integrations enable PROVIDER',
};

/** Every kind of problem that a report can contain. */
export const remedies: readonly Remedy[] = [
  unreadableIntegrations,
  ...counted,
  disabledIntegrations,
];

const ofIntegrations = (names: string[], remedy: Remedy): Problem[] =>
  names.length === 0
    ? []
    : [{ ...remedy, count: names.length, isCapped: false, oldestAt: null, names }];

export const createHealthReportHandlers = ({ db, box }: { db: Db; box: SecretBox }): Handlers => ({
  async getHealthReport(_input, { scope }) {
    const integrations = await listIntegrations(db, box, scope);
    const unreadable = integrations
      .filter(({ secrets }) => secrets === null)
      .map(({ provider }) => provider);
    const disabled = integrations.filter(({ active }) => !active).map(({ provider }) => provider);
    const problems: Problem[] = ofIntegrations(unreadable, unreadableIntegrations);
    // One after the other: a report must not take all connections of the process.
    for (const { counts, ...remedy } of counted) {
      const found: Backlog[] = [];
      for (const count of counts) found.push(await count(db, scope));
      const count = found.reduce((sum, backlog) => sum + backlog.count, 0);
      if (count === 0) continue;
      const times = found
        .flatMap(({ oldestAt }) => oldestAt ?? [])
        .sort((a, b) => msOf(a) - msOf(b));
      const isCapped = found.some((backlog) => backlog.isCapped);
      problems.push({
        ...remedy,
        count,
        isCapped,
        oldestAt: msOrNull(times[0] ?? null),
        names: [],
      });
    }
    problems.push(...ofIntegrations(disabled, disabledIntegrations));
    return { checkedAt: Date.now(), isHealthy: problems.length === 0, problems };
  },
});
