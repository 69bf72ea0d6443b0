import { type Command, Option } from 'commander';
import { groups, ofKey, paged } from '../options';
import { emailStatuses, executionStatuses, messageStatuses } from '../statuses';

/** Commands for threads, channel messages, e-mails and executions. */
export function addConversationCommands(program: Command): void {
  const threads = program
    .command('threads')
    .helpGroup(groups.http)
    .description('read and take over conversations');
  paged(ofKey(threads.command('list')))
    .description('list threads, latest message first')
    .option('--agent <slug>', 'only threads that this agent answered last')
    .addOption(
      new Option(
        '--state <state>',
        'only threads that the agent or a person answers, or that wait for a person',
      ).choices(['agent', 'human', 'waiting']),
    )
    .addOption(
      new Option('--status <status>', 'only open or only closed threads').choices([
        'open',
        'closed',
      ]),
    )
    .option(
      '--search <text>',
      "only threads with this text in the contact's name or the external id",
    )
    .action(async (options) => (await import('../commands/threads-list')).runThreadsList(options));
  paged(ofKey(threads.command('show')))
    .description('show the last turns of a thread with their messages and tool calls')
    .argument('<threadId|externalId>')
    .option('--full', 'do not shorten long texts')
    .action(async (thread, options) =>
      (await import('../commands/threads-show')).runThreadsShow(thread, options),
    );
  const thread = '<threadId|externalId>';
  ofKey(threads.command('reply'))
    .description('write to the contact as a person, who thereby takes the thread over')
    .argument(thread)
    .argument('[text]', 'the text, or - for standard input')
    .option('--file <file>', 'send a file')
    .option(
      '--template <name>',
      'send a template, as WhatsApp requires 24 hours after the last message of the contact',
    )
    .option('--language <code>', 'language of the template, such as es')
    .action(async (id, text, options) =>
      (await import('../commands/threads-reply')).runThreadsReply(id, text, options),
    );
  ofKey(threads.command('takeover'))
    .description(
      'a person takes the thread over: messages are stored and the agent does not answer',
    )
    .argument(thread)
    .option('--for <duration>', 'the agent answers again after this time, such as 30m or 12h')
    .action(async (id, options) =>
      (await import('../commands/threads-takeover')).runThreadsTakeover(id, options),
    );
  ofKey(threads.command('resume'))
    .description('end a takeover: the agent answers again')
    .argument(thread)
    .option('--note <text>', 'what the agent should know; the contact does not get it')
    .action(async (id, options) =>
      (await import('../commands/threads-takeover')).runThreadsResume(id, options),
    );

  const messages = program
    .command('messages')
    .helpGroup(groups.http)
    .description('messages received and sent on channels');
  paged(ofKey(messages.command('list')))
    .description('list messages with their status, newest first')
    .addOption(
      new Option('--status <status>', 'only messages with this status').choices(messageStatuses),
    )
    .addOption(
      new Option('--direction <direction>', 'only received or only sent messages').choices([
        'inbound',
        'outbound',
      ]),
    )
    .option('--contact <number|id>', 'only messages of this contact')
    .action(async (options) =>
      (await import('../commands/messages-list')).runMessagesList(options),
    );
  ofKey(messages.command('retry'))
    .description('resend failed outbound messages, and answer inbound messages whose answer failed')
    .argument('<id...>')
    .option('--anyway', 'also resend messages that may have been delivered already')
    .action(async (ids, options) =>
      (await import('../commands/retry')).runRetry('retryChannelMessage', ids, options),
    );

  const emails = program
    .command('emails')
    .helpGroup(groups.http)
    .description('e-mails sent by tools');
  paged(ofKey(emails.command('list')))
    .description('list e-mails with their status, newest first')
    .addOption(
      new Option('--status <status>', 'only e-mails with this status').choices(emailStatuses),
    )
    .action(async (options) => (await import('../commands/emails-list')).runEmailsList(options));
  ofKey(emails.command('retry'))
    .description('resend failed e-mails')
    .argument('<id...>')
    .option('--anyway', 'also resend e-mails that may have been delivered already')
    .action(async (ids, options) =>
      (await import('../commands/retry')).runRetry('retryEmail', ids, options),
    );
  ofKey(emails.command('show'))
    .description('show an e-mail that was sent with the simulated provider of npm start')
    .argument('[id]', 'id of the e-mail (default: the last one)')
    .action(async (id, options) =>
      (await import('../commands/emails-show')).runEmailsShow(id, options),
    );

  const whatsapp = program
    .command('whatsapp')
    .helpGroup(groups.http)
    .description('the simulated WhatsApp of npm start');
  const from = ['--from <number>', 'number of the customer (default: +56911111111)'] as const;
  ofKey(whatsapp.command('send'))
    .description('write to an agent as a customer and print the reply')
    .argument('<text>')
    .option(...from)
    .option('--to <number>', 'connected number to write to (default: the latest)')
    .option(
      '--agent <slug>',
      'agent that answers; gets a simulated number if it has none (default: the oldest agent)',
    )
    .option('--no-wait', 'do not wait for the reply')
    .action(async (text, options) =>
      (await import('../commands/whatsapp-send')).runWhatsappSend(text, options),
    );
  ofKey(whatsapp.command('messages'))
    .description('show the messages that a customer has sent and received')
    .option(...from)
    .action(async (options) =>
      (await import('../commands/whatsapp-messages')).runWhatsappMessages(options),
    );

  const executions = program
    .command('executions')
    .helpGroup(groups.http)
    .description('turns of agents, with their model and tool calls');
  paged(ofKey(executions.command('list')))
    .description('list executions, newest first')
    .option('--thread <threadId|externalId>', 'only executions of this thread')
    .option('--agent <slug>', 'only executions of this agent')
    .addOption(
      new Option('--status <status>', 'only executions with this status').choices(
        executionStatuses,
      ),
    )
    .option('--tool-errors', 'only executions with a failed or denied tool call')
    .action(async (options) =>
      (await import('../commands/executions-list')).runExecutionsList(options),
    );
  ofKey(executions.command('show'))
    .description('show the steps of an execution')
    .argument('<id>', 'id of the execution')
    .option('--full', 'do not shorten long texts')
    .option('--prompt', 'also print the prompt as it was sent, and the tools that were offered')
    .action(async (id, options) =>
      (await import('../commands/executions-show')).runExecutionsShow(id, options),
    );
}
