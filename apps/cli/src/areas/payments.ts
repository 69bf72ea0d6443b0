import { type Command, Option } from 'commander';
import { groups, ofKey, paged } from '../options';
import { paymentStatuses } from '../statuses';

/** Commands for the payments of one environment. */
export function addPaymentCommands(program: Command): void {
  const payments = program
    .command('payments')
    .helpGroup(groups.http)
    .description('payments and their links');
  paged(ofKey(payments.command('list')))
    .description('list payments, newest first')
    .addOption(
      new Option('--status <status>', 'only payments with this status').choices(paymentStatuses),
    )
    .action(async (options) =>
      (await import('../commands/payments-list')).runPaymentsList(options),
    );
  ofKey(payments.command('show'))
    .description('show a payment and its events')
    .argument('<id>')
    .action(async (id, options) =>
      (await import('../commands/payments-show')).runPaymentsShow(id, options),
    );
  ofKey(payments.command('reconcile'))
    .description(
      'ask the provider for the status of pending payments; status 1 when a request fails',
    )
    .option(
      '--older-than <minutes>',
      'only payments created before this many minutes (default: 60)',
    )
    .action(async (options) =>
      (await import('../commands/payments-reconcile')).runPaymentsReconcile(options),
    );
}
