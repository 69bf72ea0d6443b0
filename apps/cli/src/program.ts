import { Command } from 'commander';
import { addTriggerCommands } from './areas/triggers';
import { addConversationCommands } from './areas/conversations';
import { addDataCommands } from './areas/data';
import { addDefinitionCommands } from './areas/definitions';
import { addOperationCommands } from './areas/operations';
import { addPaymentCommands } from './areas/payments';
import { addWebhookCommands } from './areas/webhooks';
import { version } from './version';

/**
 * The table of commands: an area for each subject, a file in commands/ for each command. Each command loads its code
 * when it runs, so that `--help` costs next to nothing.
 */
export function createProgram(asJson = false): Command {
  const program = new Command('parley')
    .description('Configuration as code and operations for Parley')
    .version(version, '--version', 'print the version')
    .option('--debug', 'show the stack of an error')
    .showHelpAfterError('--help shows what it takes')
    .exitOverride();
  // Its failures are told as JSON then (main.ts).
  if (asJson) program.configureOutput({ writeErr: () => {} });
  addDefinitionCommands(program);
  addDataCommands(program);
  addConversationCommands(program);
  addTriggerCommands(program);
  addWebhookCommands(program);
  addPaymentCommands(program);
  addOperationCommands(program);
  return program;
}
