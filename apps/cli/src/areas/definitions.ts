import { type Command, Option } from 'commander';
import { collect, groups, withJson } from '../options';

/** Commands that push and pull definitions, and that try them out. */
export function addDefinitionCommands(program: Command): void {
  const folder = [
    '[folder]',
    'folder with agents/, entity-types/, roles/, routers/, tools/ or triggers/',
    '.',
  ] as const;
  const command = (name: string) => withJson(program.command(name)).helpGroup(groups.http);
  const prune = [
    '--prune',
    'also delete definitions that the folder lacks, of the kinds that it has',
  ] as const;

  withJson(program.command('init'))
    .helpGroup(groups.local)
    .description(
      'create a project with an example of each kind of definition, and install its packages',
    )
    .argument('[folder]', 'a new or empty folder', '.')
    .option('--force', 'overwrite existing files')
    .option('--no-install', 'do not run npm install')
    .action(async (path, options) => (await import('../commands/init')).runInit(path, options));
  command('dev')
    .description('push to development whenever a file changes')
    .argument(...folder)
    .option(...prune)
    .action(async (path, options) => (await import('../commands/dev')).runDev(path, options));
  command('diff')
    .description('show what a push would change, field by field')
    .argument(...folder)
    .option(...prune)
    .option('--exit-code', 'exit with status 3 when a push would change something')
    .action(async (path, options) => (await import('../commands/diff')).runDiff(path, options));
  command('push')
    .description("send a folder's definitions to the key's environment")
    .argument(...folder)
    .option('--dry-run', 'only show what would change')
    .option(...prune)
    .action(async (path, options) => (await import('../commands/push')).runPush(path, options));
  command('deploy')
    .description('push to production after a confirmation')
    .argument(...folder)
    .option('--yes', 'do not ask for confirmation')
    .option(...prune)
    .action(async (path, options) => (await import('../commands/deploy')).runDeploy(path, options));
  command('pull')
    .description('write definitions that the folder lacks to files')
    .argument('[folder]', 'folder to write to', '.')
    .option('--force', 'also overwrite the files of definitions that differ')
    .action(async (path, options) => (await import('../commands/pull')).runPull(path, options));
  command('status')
    .description("show the key's environment, its definitions, and how the folder differs")
    .argument(...folder)
    .action(async (path, options) => (await import('../commands/status')).runStatus(path, options));
  command('compile-prompt')
    .description("show an agent's system prompt with its templates filled in")
    .argument('<agent>', 'slug of the agent')
    .option('--message <text>', 'sample message')
    .addOption(
      new Option('--channel <channel>', 'sample channel').choices([
        'api',
        'whatsapp',
        'widget',
        'dashboard',
      ]),
    )
    .option('--metadata <json>', 'sample thread metadata')
    .option('--context', 'also print the values of the variables, on stderr')
    .action(async (agent, options) =>
      (await import('../commands/compile-prompt')).runCompilePrompt(agent, options),
    );
  command('run-tool')
    .description('run a tool once')
    .argument('<tool>', 'name of the tool, such as entity.query')
    .argument('[args]', 'a JSON object, @file, or - for standard input')
    .option('--agent <slug>', 'run it with the permissions of this agent (default: of the system)')
    .action(async (tool, args, options) =>
      (await import('../commands/run-tool')).runRunTool(tool, args, options),
    );
  const secrets = program
    .command('tool-secrets')
    .helpGroup(groups.http)
    .description('secrets of custom tools');
  withJson(secrets.command('set'))
    .description('set a secret; asks for its value, or reads it from standard input')
    .argument('<name>', 'name that tools declare in secrets, such as CARRIER_KEY')
    .argument('[source]', '- reads the value from standard input; a value itself is not accepted')
    .action(async (name, source, options) =>
      (await import('../commands/tool-secrets')).runSet(name, source, options),
    );
  withJson(secrets.command('list'))
    .description('list secrets with the tools that declare them, without their values')
    .action(async (options) => (await import('../commands/tool-secrets')).runList(options));
  withJson(secrets.command('delete'))
    .description('delete a secret; tools that declare it then fail')
    .argument('<name>', 'name of the secret')
    .action(async (name, options) =>
      (await import('../commands/tool-secrets')).runDelete(name, options),
    );
  command('fire')
    .description('run the actions of a trigger now')
    .argument('<trigger>', 'slug of the trigger')
    .option('--entity <id>', 'entity of the run')
    .option('--data <json>', 'JSON object with the values of {{trigger.data.…}}')
    .action(async (trigger, options) =>
      (await import('../commands/fire')).runFire(trigger, options),
    );

  const tools = program
    .command('tools')
    .helpGroup(groups.http)
    .description('tools that agents, triggers and handlers can call');
  withJson(tools.command('list'))
    .description(
      'list the built-in tools, and the custom tools of the environment when there is a key',
    )
    .action(async (options) => (await import('../commands/tools-list')).runToolsList(options));
  withJson(tools.command('show'))
    .description('show what a tool does, its parameters and the permission that it needs')
    .argument('<tool>', 'name of the tool, such as entity.query')
    .action(async (name, options) =>
      (await import('../commands/tools-show')).runToolsShow(name, options),
    );

  withJson(program.command('chat'))
    .helpGroup(groups.http)
    .description('send a message to an agent; without a message, start a conversation')
    .argument('<agent>', 'slug of the agent; with --router, of the router')
    .argument('[message]', 'message to send')
    .option('--router', 'let a router choose the agent')
    .option('--phone <number>', 'with --router: phone number that its rules look up')
    .option('--thread <id>', 'continue this thread')
    .option('--external-thread <id>', 'continue or start the thread with this external id')
    .option('--param <name=value>', 'thread context parameter; may be repeated', collect)
    .action(async (agent, message, options) =>
      (await import('../commands/chat')).runChat(agent, message, options),
    );
}
