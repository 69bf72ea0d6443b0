import { type Command, Option } from 'commander';
import { groups, inScope } from '../options';
import { paymentStatuses } from '../statuses';

/** Commands for the payments of one environment. */
export function addPaymentCommands(program: Command): void {
  const payments = program.command('payments').helpGroup(groups.database).description('payments and their links');
  inScope(payments.command('list'))
    .description('list payments, newest first')
    .addOption(new Option('--status <status>', 'only payments with this status').choices(paymentStatuses))
    .option('--limit <n>', 'maximum number of payments (default: 20)')
    .option('--before <cursor>', 'next page: the cursor that the previous page printed')
    .action(async (options) => (await import('../commands/payments-list')).runPaymentsList(options));
  inScope(payments.command('show'))
    .description('show a payment and its events')
    .argument('<id>')
    .action(async (id, options) => (await import('../commands/payments-show')).runPaymentsShow(id, options));
  inScope(payments.command('reconcile'))
    .description('ask the provider for the status of pending payments; status 1 when a request fails')
    .option('--all', 'all environments of all organizations')
    .option('--older-than <minutes>', 'only payments created before this many minutes (default: 60)')
    .action(async (options) => (await import('../commands/payments-reconcile')).runPaymentsReconcile(options));
}
