import { type Command, Option } from 'commander';
import { groups, inScope } from '../options';
import { paymentStates } from '../payments/payment-states';

/** Payments of one environment, and looking after the pending ones now. */
export function addPaymentCommands(program: Command): void {
  const payments = program.command('payments').helpGroup(groups.database).description('payments and their links');
  inScope(payments.command('list'))
    .description('list payments, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(paymentStates))
    .option('--limit <n>', 'at most so many; default 20')
    .option('--before <cursor>', 'go on where a list has ended')
    .action(async (options) => (await import('../commands/payments-list')).runPaymentsList(options));
  inScope(payments.command('show'))
    .description('one payment with what happened to it')
    .argument('<id>')
    .action(async (id, options) => (await import('../commands/payments-show')).runPaymentsShow(id, options));
  inScope(payments.command('reconcile'))
    .description('ask the provider about pending payments now; status 1 when one could not be asked about')
    .option('--all', 'in all environments of all organizations')
    .option('--older-than <minutes>', 'only payments of this age; default 60')
    .action(async (options) => (await import('../commands/payments-reconcile')).runPaymentsReconcile(options));
}
