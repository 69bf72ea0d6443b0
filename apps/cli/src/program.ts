import { Command, Option } from 'commander';
import { executionStates } from './conversations/execution-states';

/** The table of commands. Each loads its code when it runs, so that `--help` costs next to nothing. */
export function createProgram(): Command {
  const program = new Command('parley')
    .description('Configuration as code and operations for Parley')
    .option('--debug', 'show the stack of an error')
    .exitOverride();

  program
    .command('migrate')
    .description('bring the database to this version')
    .option('--check', 'only say whether it is; status 1 when not')
    .action(async (options) => (await import('./commands/migrate')).runMigrate(options));

  program
    .command('demo')
    .description('make the demo organization with its agent and data, once')
    .option('--new-key', 'make another development key')
    .action(async (options) => (await import('./commands/demo')).runDemo(options));

  program
    .command('push')
    .description('bring an environment to what a folder defines')
    .argument('<folder>', 'has agents/, entity-types/, roles/, triggers/, routers/ or tools/')
    .option('--dry-run', 'only say what would change')
    .option('--prune', 'delete what the folder does not have, of the kinds that it has')
    .option('--json', 'the answer as one JSON line')
    .action(async (folder, options) => (await import('./commands/push')).runPush(folder, options));

  program
    .command('chat')
    .description('talk to an agent; without a message, line by line')
    .argument('<agent>', 'its slug')
    .argument('[message]', 'asks once')
    .option('--thread <id>', 'continue this thread')
    .option('--external-thread <id>', 'continue or begin the thread with this id of yours')
    .option('--param <name=value>', 'a thread context parameter; may be repeated', collect)
    .option('--json', 'each answer as one JSON line')
    .action(async (agent, message, options) => (await import('./commands/chat')).runChat(agent, message, options));

  const org = program.command('org').description('organizations');
  org
    .command('create')
    .description('make an organization')
    .requiredOption('--slug <slug>', 'its short name')
    .requiredOption('--name <name>', 'its name for people')
    .action(async (options) => (await import('./commands/org-create')).runOrgCreate(options));

  const keys = program.command('keys').description('API keys');
  keys
    .command('create')
    .description('make a key; only the key is printed on stdout')
    .requiredOption('--env <environment>', 'development or production')
    .requiredOption('--permissions <list>', 'chat, data, sync, separated by commas, or *')
    .requiredOption('--name <name>', 'what it is for')
    .option('--org <slug>', 'organization; default: the only one, or demo')
    .option('--role <slug>', 'role that the Data API applies')
    .option('--expires <when>', '30d, 12h, 2w or a date')
    .action(async (options) => (await import('./commands/keys-create')).runKeysCreate(options));
  keys
    .command('list')
    .description('list the keys of an organization')
    .option('--org <slug>', 'organization; default: the only one, or demo')
    .option('--json', 'one JSON array')
    .action(async (options) => (await import('./commands/keys-list')).runKeysList(options));
  keys
    .command('revoke')
    .description('end a key')
    .argument('<id|prefix>', 'as keys list shows it')
    .option('--org <slug>', 'organization; default: the only one, or demo')
    .action(async (key, options) => (await import('./commands/keys-revoke')).runKeysRevoke(key, options));

  addConversationCommands(program);
  return program;
}

function addConversationCommands(program: Command): void {
  const threads = program.command('threads').description('conversations of one environment');
  inScope(threads.command('list'))
    .description('list threads by their last message, newest first')
    .option('--agent <slug>', 'only those that this agent answered last')
    .option('--limit <n>', 'at most so many; default 20')
    .option('--before <position>', 'go on where a list has ended')
    .action(async (options) => (await import('./commands/threads-list')).runThreadsList(options));
  inScope(threads.command('show'))
    .description('a conversation as it went')
    .argument('<threadId|externalId>')
    .option('--limit <n>', 'at most so many turns, the last ones; default 20')
    .option('--before <execution>', 'the turns before this one')
    .option('--full', 'cut nothing')
    .action(async (thread, options) => (await import('./commands/threads-show')).runThreadsShow(thread, options));
  for (const [name, isPaused, description] of [
    ['pause', true, 'a person takes over: messages are stored and not answered'],
    ['resume', false, 'the agent answers again'],
  ] as const) {
    inScope(threads.command(name), { json: false })
      .description(description)
      .argument('<threadId|externalId>')
      .action(async (thread, options) =>
        (await import('./commands/threads-pause')).runThreadsPause(thread, isPaused, options),
      );
  }

  const executions = program.command('executions').description('what agents did for each message');
  inScope(executions.command('list'))
    .description('list executions, newest first')
    .option('--thread <threadId|externalId>', 'only those of this thread')
    .option('--agent <slug>', 'only those of this agent')
    .addOption(new Option('--status <status>', 'only these').choices(executionStates))
    .option('--limit <n>', 'at most so many; default 20')
    .option('--before <position>', 'go on where a list has ended')
    .action(async (options) => (await import('./commands/executions-list')).runExecutionsList(options));
  inScope(executions.command('show'))
    .description('one execution step by step')
    .argument('<id>', 'its number')
    .option('--full', 'cut nothing')
    .action(async (id, options) => (await import('./commands/executions-show')).runExecutionsShow(id, options));
}

/** What a command reads and changes belongs to one environment of one organization. */
function inScope(command: Command, { json = true } = {}): Command {
  command
    .option('--env <environment>', 'development (default) or production')
    .option('--org <slug>', 'organization; default: the only one, or demo');
  return json ? command.option('--json', 'one JSON line') : command;
}

const collect = (value: string, values: string[] = []): string[] => [...values, value];
