import { type Command, Option } from 'commander';
import { executionStates } from '../conversations/execution-states';
import { emailStates } from '../conversations/email-states';
import { messageStates } from '../conversations/message-states';
import { groups, inScope, paged } from '../options';

/** What was said, and what agents did for each message. */
export function addConversationCommands(program: Command): void {
  const threads = program.command('threads').helpGroup(groups.database).description('conversations of one environment');
  paged(inScope(threads.command('list')))
    .description('list threads by their last message, newest first')
    .option('--agent <slug>', 'only those that this agent answered last')
    .addOption(
      new Option('--state <state>', 'only these; paused: a person has taken over').choices(['active', 'paused']),
    )
    .action(async (options) => (await import('../commands/threads-list')).runThreadsList(options));
  inScope(threads.command('show'))
    .description('a conversation as it went')
    .argument('<threadId|externalId>')
    .option('--limit <n>', 'at most so many turns, the last ones; default 20')
    .option('--before <execution>', 'the turns before this one')
    .option('--full', 'cut nothing')
    .action(async (thread, options) => (await import('../commands/threads-show')).runThreadsShow(thread, options));
  for (const [name, isPaused, description] of [
    ['pause', true, 'a person takes over: messages are stored and not answered'],
    ['resume', false, 'the agent answers again'],
  ] as const) {
    inScope(threads.command(name))
      .description(description)
      .argument('<threadId|externalId>')
      .action(async (thread, options) =>
        (await import('../commands/threads-pause')).runThreadsPause(thread, isPaused, options),
      );
  }

  const messages = program
    .command('messages')
    .helpGroup(groups.database)
    .description('what channels have brought and sent, and what became of it');
  paged(inScope(messages.command('list')))
    .description('list messages, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(messageStates))
    .addOption(new Option('--direction <direction>', 'only these').choices(['inbound', 'outbound']))
    .option('--contact <number|id>', 'only those of this contact')
    .action(async (options) => (await import('../commands/messages-list')).runMessagesList(options));
  inScope(messages.command('retry'))
    .description('send messages that have failed once more, and answer those of customers that nobody answered')
    .argument('<id...>')
    .option('--anyway', 'also those that the customer may have got already')
    .action(async (ids, options) => (await import('../commands/messages-retry')).runMessagesRetry(ids, options));

  const emails = program.command('emails').helpGroup(groups.database).description('e-mails that tools have sent');
  paged(inScope(emails.command('list')))
    .description('list e-mails and what became of them, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(emailStates))
    .action(async (options) => (await import('../commands/emails-list')).runEmailsList(options));

  const executions = program
    .command('executions')
    .helpGroup(groups.database)
    .description('what agents did for each message');
  paged(inScope(executions.command('list')))
    .description('list executions, newest first')
    .option('--thread <threadId|externalId>', 'only those of this thread')
    .option('--agent <slug>', 'only those of this agent')
    .addOption(new Option('--status <status>', 'only these').choices(executionStates))
    .action(async (options) => (await import('../commands/executions-list')).runExecutionsList(options));
  inScope(executions.command('show'))
    .description('one execution step by step')
    .argument('<id>', 'its number')
    .option('--full', 'cut nothing')
    .action(async (id, options) => (await import('../commands/executions-show')).runExecutionsShow(id, options));
}
