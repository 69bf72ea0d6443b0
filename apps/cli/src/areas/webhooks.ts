import { type Command, Option } from 'commander';
import { collect, groups, ofKey, paged } from '../options';
import { deliveryProviders, deliveryStatuses, providers } from '../webhooks/providers';

/** Commands for webhook deliveries, credits, integrations and channel connections. */
export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .helpGroup(groups.http)
    .description('webhook deliveries of providers');
  const unattributed = [
    '--unattributed',
    'deliveries without an organization, from the database (DATABASE_URL)',
  ] as const;
  const provider = () =>
    new Option('--provider <provider>', 'only deliveries of this provider').choices(
      deliveryProviders,
    );
  paged(ofKey(webhooks.command('list')))
    .description('list deliveries, newest first')
    .addOption(
      new Option('--status <status>', 'only deliveries with this status').choices(deliveryStatuses),
    )
    .addOption(provider())
    .option(...unattributed)
    .action(async (options) =>
      (await import('../commands/webhooks-list')).runWebhooksList(options),
    );
  ofKey(webhooks.command('show'))
    .description('show a delivery with its headers and body; secrets are masked')
    .argument('<id>')
    .option(...unattributed)
    .action(async (id, options) =>
      (await import('../commands/webhooks-show')).runWebhooksShow(id, options),
    );
  ofKey(webhooks.command('replay'))
    .description('process deliveries again')
    .argument('[id...]')
    .addOption(
      new Option('--status <status>', 'all deliveries with this status').choices([
        'processed',
        'ignored',
        'failed',
      ]),
    )
    .addOption(provider())
    .option(...unattributed)
    .action(async (ids, options) =>
      (await import('../commands/webhooks-replay')).runWebhooksReplay(ids, options),
    );
  ofKey(webhooks.command('trigger'))
    .description('send a signed sample delivery; without an event, list the samples')
    .argument('[event]', 'name of the sample, such as order.paid or whatsapp.message.received')
    .option(
      '--set <path=value>',
      'change a field of the body, such as data.subtotal_amount=900',
      collect,
    )
    .option('--url <address>', 'address of the gateway (default: PARLEY_URL, or the running stack)')
    .action(async (event, options) =>
      (await import('../commands/webhooks-trigger')).runWebhooksTrigger(event, options),
    );

  const credits = program
    .command('credits')
    .helpGroup(groups.http)
    .description('credits of organizations');
  paged(ofKey(credits.command('show')))
    .description('show the balance and the last entries of the ledger')
    .action(async (options) => (await import('../commands/credits-show')).runCreditsShow(options));

  const integrations = program
    .command('integrations')
    .helpGroup(groups.http)
    .description('accounts at providers');
  ofKey(integrations.command('set'))
    .description(
      'configure a provider; secrets are stored encrypted, and "-" reads one from standard input',
    )
    .argument(
      '<provider>',
      `${providers.join(', ')}, or a name for a server with OpenAI's protocol`,
    )
    .option('--api-key <key>', 'API key')
    .option('--secret-key <key>', 'flow: secret that signs requests')
    .option(
      '--api-url <address>',
      'address of the API, unless it is the default; required for mcp, ollama and other servers of models',
    )
    .option('--return-url <address>', 'flow: address that the browser opens after a payment')
    .option('--header <name: value...>', 'mcp: additional request headers, stored encrypted')
    .option('--currency <code>', 'flow: default currency (CLP unless set)')
    .option('--from <sender>', 'resend: default sender of e-mails')
    .option('--media-reply <text>', 'kapso: reply to media without text; "" sends none')
    .action(async (provider, options) =>
      (await import('../commands/integrations')).runIntegrationsSet(provider, options),
    );
  ofKey(integrations.command('test'))
    .description('check that the provider accepts the credentials')
    .argument('<provider>')
    .action(async (provider, options) =>
      (await import('../commands/integrations')).runIntegrationsTest(provider, options),
    );
  ofKey(integrations.command('list'))
    .description('list integrations; secrets are masked')
    .action(async (options) =>
      (await import('../commands/integrations')).runIntegrationsList(options),
    );
  for (const [name, effect] of [
    ['disable', 'disable a provider and keep its settings'],
    ['enable', 'enable a disabled provider'],
  ] as const)
    ofKey(integrations.command(name))
      .description(effect)
      .argument('<provider>')
      .action(async (provider, options) =>
        (await import('../commands/integrations')).runIntegrationsSwitch(
          provider,
          name === 'enable',
          options,
        ),
      );
  ofKey(integrations.command('remove'))
    .description('delete the settings and secrets of a provider')
    .argument('<provider>')
    .action(async (provider, options) =>
      (await import('../commands/integrations')).runIntegrationsRemove(provider, options),
    );

  const channels = program
    .command('channels')
    .helpGroup(groups.http)
    .description('WhatsApp numbers');
  ofKey(channels.command('connect'))
    .description('connect a number, or print the link at which a person connects one')
    .option('--agent <slug>', 'agent that answers')
    .option('--router <slug>', 'router that chooses the agent')
    .option(
      '--contact-type <slug>',
      'entity type whose entities are matched by phone number; "" for none',
    )
    .option('--customer <id>', 'use an existing Kapso customer')
    .option('--phone-number-id <id>', 'use a number of your account at Kapso')
    .option('--name <name>', 'name of a new Kapso customer (default: Parley)')
    .action(async (options) =>
      (await import('../commands/channels-connect')).runChannelsConnect(options),
    );
  ofKey(channels.command('list'))
    .description('list connections')
    .action(async (options) =>
      (await import('../commands/channels-list')).runChannelsList(options),
    );
}
