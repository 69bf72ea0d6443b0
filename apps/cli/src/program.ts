import { Command } from 'commander';
import { addTriggerCommands } from './areas/triggers';
import { addConversationCommands } from './areas/conversations';
import { addDataCommands } from './areas/data';
import { addDefinitionCommands } from './areas/definitions';
import { addOperationCommands } from './areas/operations';
import { addPaymentCommands } from './areas/payments';
import { addWebhookCommands } from './areas/webhooks';
import { type CommandIo, type Output, io } from './command-io';
import { asJson } from './terminal';
import { version } from './version';

/**
 * Declares all commands: one file in areas/ for each subject, one file in commands/ for each
 * command. A command's code is loaded when it runs, so that `--help` starts fast.
 */
export function createProgram({ stdout, stderr }: CommandIo = io()): Command {
  const program = new Command('parley')
    .description('Push definitions to Parley, and operate it')
    .version(version, '--version', 'print the version')
    .option('--debug', 'print the stack of an error')
    .showHelpAfterError('Run the command with --help to see its arguments and options')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      // With --json, run-program.ts prints usage errors as JSON instead.
      writeErr: (text) => void (asJson() || stderr.write(text)),
      getOutHelpWidth: () => widthOf(stdout),
      getErrHelpWidth: () => widthOf(stderr),
    });
  addDefinitionCommands(program);
  addDataCommands(program);
  addConversationCommands(program);
  addTriggerCommands(program);
  addWebhookCommands(program);
  addPaymentCommands(program);
  addOperationCommands(program);
  return program;
}

/** In characters. Output that is not printed on a terminal has the width that is usual there. */
const widthOf = ({ isTTY, columns }: Output): number => (isTTY && columns) || 80;
