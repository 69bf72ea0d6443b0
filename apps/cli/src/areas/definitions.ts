import { type Command, Option } from 'commander';
import { collect, groups, withJson } from '../options';

/** Definitions as code, and trying them out. */
export function addDefinitionCommands(program: Command): void {
  const folder = ['[folder]', 'has agents/, entity-types/, roles/, triggers/, routers/ or tools/', '.'] as const;
  const command = (name: string) => withJson(program.command(name)).helpGroup(groups.http);
  const prune = ['--prune', 'also delete what the folder does not have, of the kinds that it has'] as const;

  withJson(program.command('init'))
    .helpGroup(groups.local)
    .description('make a project with a sample of each kind')
    .argument('[folder]', 'new or empty', '.')
    .option('--force', 'write files anew that are there')
    .action(async (path, options) => (await import('../commands/init')).runInit(path, options));
  command('dev')
    .description('push to development whenever a file changes')
    .argument(...folder)
    .option(...prune)
    .action(async (path, options) => (await import('../commands/dev')).runDev(path, options));
  command('diff')
    .description('what a push would change, field by field')
    .argument(...folder)
    .option(...prune)
    .option('--exit-code', 'status 3 when there is a difference')
    .action(async (path, options) => (await import('../commands/diff')).runDiff(path, options));
  command('push')
    .description('bring an environment to what a folder defines')
    .argument(...folder)
    .option('--dry-run', 'only say what would change')
    .option(...prune)
    .action(async (path, options) => (await import('../commands/push')).runPush(path, options));
  command('deploy')
    .description('push to production, after asking')
    .argument(...folder)
    .option('--yes', 'do not ask')
    .option(...prune)
    .action(async (path, options) => (await import('../commands/deploy')).runDeploy(path, options));
  command('pull')
    .description('write what the environment has and the folder does not')
    .argument('[folder]', 'may be empty', '.')
    .option('--force', 'replace the files of definitions that differ')
    .action(async (path, options) => (await import('../commands/pull')).runPull(path, options));
  command('status')
    .description('where the key leads, what is there, and whether the folder says the same')
    .argument(...folder)
    .action(async (path, options) => (await import('../commands/status')).runStatus(path, options));
  command('compile-prompt')
    .description("an agent's system prompt as a conversation would see it")
    .argument('<agent>', 'its slug')
    .option('--message <text>', 'a sample message')
    .addOption(new Option('--channel <channel>').choices(['api', 'whatsapp', 'widget', 'dashboard']))
    .option('--metadata <json>', 'sample thread metadata')
    .option('--context', 'also what the variables were resolved from, on stderr')
    .action(async (agent, options) => (await import('../commands/compile-prompt')).runCompilePrompt(agent, options));
  command('run-tool')
    .description('run a tool as in a real conversation')
    .argument('<tool>', 'such as entity.query')
    .argument('[args]', 'a JSON object, @file, or - for the standard input')
    .option('--agent <slug>', 'as this agent; default: as the system')
    .action(async (tool, args, options) => (await import('../commands/run-tool')).runRunTool(tool, args, options));
  command('fire')
    .description('fire a trigger now')
    .argument('<trigger>', 'its slug')
    .option('--entity <id>', 'the entity that it is about')
    .option('--data <json>', 'what {{trigger.data.X}} is')
    .action(async (trigger, options) => (await import('../commands/fire')).runFire(trigger, options));

  withJson(program.command('chat'))
    .helpGroup(groups.http)
    .description('talk to an agent; without a message, line by line')
    .argument('<agent>', 'its slug; with --router that of a router')
    .argument('[message]', 'asks once')
    .option('--router', 'a router picks the agent')
    .option('--phone <number>', 'with --router: the number that its rules look at')
    .option('--thread <id>', 'continue this thread')
    .option('--external-thread <id>', 'continue or begin the thread with this id of yours')
    .option('--param <name=value>', 'a thread context parameter; may be repeated', collect)
    .action(async (agent, message, options) => (await import('../commands/chat')).runChat(agent, message, options));
}
