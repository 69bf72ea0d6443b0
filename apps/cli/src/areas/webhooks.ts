import { type Command, Option } from 'commander';
import { collect, groups, inScope, ofOrganization, paged, withJson } from '../options';
import { deliveryProviders, deliveryStates, providers } from '../webhooks/names';

/** What providers have sent, and how they are reached. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .helpGroup(groups.database)
    .description('what providers have sent, and what became of it');
  paged(withJson(webhooks.command('list')))
    .description('list deliveries, newest first')
    .addOption(new Option('--status <status>', 'only these').choices(deliveryStates))
    .addOption(new Option('--provider <provider>', 'only those of this one').choices(deliveryProviders))
    .option('--org <slug>', 'only those of this organization')
    .action(async (options) => (await import('../commands/webhooks-list')).runWebhooksList(options));
  withJson(webhooks.command('show'))
    .description('a delivery with its body; what is secret is masked')
    .argument('<id>')
    .action(async (id, options) => (await import('../commands/webhooks-show')).runWebhooksShow(id, options));
  withJson(webhooks.command('replay'))
    .description('have deliveries worked off once more')
    .argument('[id...]')
    .addOption(new Option('--status <status>', 'all that are').choices(['failed', 'unattributed']))
    .action(async (ids, options) => (await import('../commands/webhooks-replay')).runWebhooksReplay(ids, options));
  inScope(webhooks.command('trigger'))
    .description('send a delivery as its provider would, signed, to the running stack; without an event, list them')
    .argument('[event]', 'such as order.paid or whatsapp.message.received')
    .option('--set <path=value>', 'change a member of the body, such as data.subtotal_amount=900', collect)
    .option('--url <address>', 'gateway; default PARLEY_URL, else the running stack')
    .action(async (event, options) =>
      (await import('../commands/webhooks-trigger')).runWebhooksTrigger(event, options),
    );

  const credits = program.command('credits').helpGroup(groups.database).description('what organizations have bought');
  ofOrganization(credits.command('show'))
    .description('the balance and the last entries of the ledger')
    .option('--limit <n>', 'at most so many entries; default 20')
    .action(async (options) => (await import('../commands/credits-show')).runCreditsShow(options));

  const integrations = program
    .command('integrations')
    .helpGroup(groups.database)
    .description('providers that an environment has keys for');
  inScope(integrations.command('set'))
    .description('configure a provider; its secrets are stored encrypted, "-" reads one from the standard input')
    .argument('<provider>', providers.join(', '))
    .option('--api-key <key>', 'its key')
    .option('--secret-key <key>', 'flow: what requests are signed with')
    .option('--api-url <address>', 'its address, when it is not the usual one')
    .option('--return-url <address>', 'flow: where the browser goes after paying')
    .option('--header <name: value...>', 'mcp: further headers of every request, stored encrypted')
    .option('--currency <code>', 'flow: when none is given; CLP')
    .option('--from <sender>', 'resend: sender of e-mails that name none')
    .option('--media-reply <text>', 'kapso: answer to a picture without words; "" for none')
    .action(async (provider, options) =>
      (await import('../commands/integrations-set')).runIntegrationsSet(provider, options),
    );
  inScope(integrations.command('test'))
    .description('ask the provider whether it accepts the key')
    .argument('<provider>')
    .action(async (provider, options) =>
      (await import('../commands/integrations-test')).runIntegrationsTest(provider, options),
    );
  inScope(integrations.command('list'))
    .description('what is configured; secrets are masked')
    .action(async (options) => (await import('../commands/integrations-list')).runIntegrationsList(options));
  for (const [name, effect] of [
    ['disable', 'switch a provider off and keep its settings'],
    ['enable', 'switch a provider on again'],
  ] as const)
    inScope(integrations.command(name))
      .description(effect)
      .argument('<provider>')
      .action(async (provider, options) =>
        (await import('../commands/integrations-switch')).runIntegrationsSwitch(provider, name === 'enable', options),
      );
  inScope(integrations.command('remove'))
    .description('forget a provider with its secrets')
    .argument('<provider>')
    .action(async (provider, options) =>
      (await import('../commands/integrations-remove')).runIntegrationsRemove(provider, options),
    );

  const channels = program.command('channels').helpGroup(groups.database).description('WhatsApp numbers');
  inScope(channels.command('connect'))
    .description('make a connection and print the link at which a person connects the number')
    .option('--agent <slug>', 'who answers')
    .option('--router <slug>', 'who chooses who answers')
    .option('--contact-type <slug>', 'entity type in which contacts are found by their number; "" for none')
    .option('--customer <id>', 'customer that exists at the intermediary already')
    .option('--phone-number-id <id>', 'number that is connected there already')
    .option('--name <name>', 'name of the customer; default: the organization')
    .action(async (options) => (await import('../commands/channels-connect')).runChannelsConnect(options));
  inScope(channels.command('list'))
    .description('the connections of an environment')
    .action(async (options) => (await import('../commands/channels-list')).runChannelsList(options));
}
