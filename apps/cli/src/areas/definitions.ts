import type { Command } from 'commander';
import { collect, groups, withJson } from '../options';

/** Definitions as code, and trying them out. */
export function addDefinitionCommands(program: Command): void {
  withJson(program.command('push'))
    .helpGroup(groups.http)
    .description('bring an environment to what a folder defines')
    .argument('[folder]', 'has agents/, entity-types/, roles/, triggers/, routers/ or tools/', '.')
    .option('--dry-run', 'only say what would change')
    .option('--prune', 'delete what the folder does not have, of the kinds that it has')
    .action(async (folder, options) => (await import('../commands/push')).runPush(folder, options));

  withJson(program.command('chat'))
    .helpGroup(groups.http)
    .description('talk to an agent; without a message, line by line')
    .argument('<agent>', 'its slug')
    .argument('[message]', 'asks once')
    .option('--thread <id>', 'continue this thread')
    .option('--external-thread <id>', 'continue or begin the thread with this id of yours')
    .option('--param <name=value>', 'a thread context parameter; may be repeated', collect)
    .action(async (agent, message, options) => (await import('../commands/chat')).runChat(agent, message, options));
}
