import { Argument, type Command, Option } from 'commander';
import { groups, ofKey, ofOrganization, paged, wholeSeconds, withJson } from '../options';
import { heldKindNames } from '../statuses';
import { print } from '../terminal';

/** Commands that install and operate Parley: the database, organizations, keys. */
export function addOperationCommands(program: Command): void {
  withJson(program.command('migrate'))
    .helpGroup(groups.database)
    .description('apply missing migrations to the database')
    .option('--check', 'apply nothing; exit with status 1 if a migration is missing')
    .option(
      '--wait <seconds>',
      'wait for the database and, with --check, for its migrations',
      wholeSeconds,
    )
    .action(async (options) => (await import('../commands/migrate')).runMigrate(options));

  withJson(program.command('backup'))
    .helpGroup(groups.database)
    .description('write all data to a file, as it is at one moment; SECRETS_KEY is not in it')
    .argument('<file>', 'new file, such as parley.backup')
    .action(async (file, options) => (await import('../commands/backup')).runBackup(file, options));
  withJson(program.command('restore'))
    .helpGroup(groups.database)
    .description('fill an empty database with a backup')
    .argument('<file>', 'file that parley backup wrote')
    .option('--replace', 'delete what the database contains')
    .option('--yes', 'with --replace: do not ask')
    .action(async (file, options) =>
      (await import('../commands/restore')).runRestore(file, options),
    );

  const held = program
    .command('held')
    .helpGroup(groups.database)
    .description('work that a restore holds');
  withJson(held.command('list'))
    .description('list held work by kind, organization and environment')
    .action(async (options) => (await import('../commands/held-list')).runHeldList(options));
  for (const [action, description] of [
    ['release', 'let held work be done, although it may have been done since the backup'],
    ['drop', 'end held work without doing it'],
  ] as const) {
    withJson(held.command(action))
      .description(description)
      .addOption(new Option('--kind <kind>', 'only this kind of work').choices(heldKindNames))
      .option('--all', 'every kind')
      .option(
        '--older-than <duration>',
        'only work that was created longer ago, such as 30m, 12h or 7d',
      )
      .action(async (options) =>
        (await import('../commands/held-end')).runHeldEnd(action, options),
      );
  }

  withJson(program.command('demo'))
    .helpGroup(groups.database)
    .description('create the demo organization with its agent and data, if it does not exist')
    .option('--new-key', 'create another development key')
    .action(async (options) => (await import('../commands/demo')).runDemo(options));

  const org = program.command('org').helpGroup(groups.database).description('organizations');
  withJson(org.command('create'))
    .description('create an organization')
    .requiredOption('--slug <slug>', 'short name, used in commands')
    .requiredOption('--name <name>', 'display name')
    .action(async (options) => (await import('../commands/org-create')).runOrgCreate(options));
  withJson(org.command('list'))
    .description('list organizations')
    .action(async (options) => (await import('../commands/org-list')).runOrgList(options));
  paged(withJson(org.command('purges')))
    .description('list deletions of organizations that the identity provider requested')
    .option(
      '--org <slug>',
      'report of one organization, by its slug, its id or its id at the identity provider',
    )
    .option('--stop <slug>', 'stop the unsigned deletion of an organization, by its slug or id')
    .action(async (options) => (await import('../commands/org-purges')).runOrgPurges(options));

  const members = program
    .command('members')
    .helpGroup(groups.database)
    .description('people of an organization');
  ofOrganization(members.command('invite'))
    .description(
      'print a link that makes the first person who opens it a member; it works once, for 30 minutes',
    )
    .addOption(
      new Option('--role <role>', 'what the person may do')
        .choices(['admin', 'member'])
        .default('admin'),
    )
    .option('--first', 'only while the organization has no admin')
    .action(async (options) =>
      (await import('../commands/members-invite')).runMembersInvite(options),
    );

  withJson(members.command('reset-password'))
    .description('print a link that sets a new password of a person; it works once, for 30 minutes')
    .argument('<person>', 'e-mail address or id')
    .action(async (person, options) =>
      (await import('../commands/members-reset-password')).runMembersResetPassword(person, options),
    );
  withJson(members.command('release-email'))
    .description('take an e-mail address from the people who sign in with it; they stay members')
    .argument('<address>', 'e-mail address')
    .option('--unconfirmed', 'only from people who have not confirmed it')
    .action(async (address, options) =>
      (await import('../commands/members-release-email')).runMembersReleaseEmail(address, options),
    );

  const types = program.command('types').helpGroup(groups.http).description('entity types');
  ofKey(types.command('list'))
    .description('list entity types with their search fields and the progress of reindexing')
    .action(async (options) => (await import('../commands/types-list')).runTypesList(options));
  withJson(types.command('generate'))
    .description(
      'write TypeScript types of the entity types and custom tools, over the HTTP API or of a folder',
    )
    .option('--out <file>', 'file to write; - prints it', 'parley.d.ts')
    .option('--from <folder>', "a folder of definitions (default: the key's environment)")
    .option('--check', 'write nothing; exit with status 1 when the file is not up to date')
    .action(async (options) =>
      (await import('../commands/types-generate')).runTypesGenerate(options),
    );

  const secrets = program
    .command('secrets')
    .helpGroup(groups.database)
    .description('encryption of stored secrets');
  withJson(secrets.command('rotate'))
    .description('re-encrypt all secrets with the first key of SECRETS_KEY')
    .action(async (options) =>
      (await import('../commands/secrets-rotate')).runSecretsRotate(options),
    );

  const keys = program.command('keys').helpGroup(groups.http).description('API keys');
  ofOrganization(keys.command('create'))
    .description(
      'create a key and print it; it cannot be shown again. Uses the database, if DATABASE_URL is set',
    )
    .requiredOption('--env <environment>', 'development or production')
    .requiredOption(
      '--permissions <list>',
      'chat, data, sync and manage, separated by commas; * is all but manage',
    )
    .requiredOption('--name <name>', 'name that keys list shows')
    .option('--role <slug>', 'limit the key to what this role allows')
    .option('--expires <when>', 'duration such as 30d, 12h or 2w, or a date')
    .action(async (options) => (await import('../commands/keys-create')).runKeysCreate(options));
  paged(ofKey(keys.command('list')))
    .description("list the keys of the key's environment")
    .action(async (options) => (await import('../commands/keys-list')).runKeysList(options));
  const key = [
    '<key>',
    'id or prefix, as keys list shows it, or the whole key; - reads it from stdin',
  ] as const;
  ofKey(keys.command('rotate'))
    .description('create a key that replaces another one and print it; it cannot be shown again')
    .argument(...key)
    .option(
      '--overlap <duration>',
      'how long the old key still works, such as 12h or 0 (default: 1d)',
    )
    .action(async (text, options) =>
      (await import('../commands/keys-change')).runKeysRotate(text, options),
    );
  ofKey(keys.command('revoke'))
    .description('revoke a key; requests with it are refused within a second')
    .argument(...key)
    .action(async (text, options) =>
      (await import('../commands/keys-change')).runKeysRevoke(text, options),
    );

  const publishable = program
    .command('publishable-keys')
    .helpGroup(groups.http)
    .description('keys that web pages may show');
  ofKey(publishable.command('create'))
    .description(
      'create a key for pages of some origins and print it; its identity secret cannot be shown again',
    )
    .requiredOption('--name <name>', 'name that publishable-keys list shows')
    .requiredOption(
      '--origins <list>',
      'origins such as https://example.com or *.example.com, separated by commas',
    )
    .option('--agent <slug>', 'the agent that answers')
    .option('--router <slug>', 'the router that chooses who answers')
    .option('--per-visitor <requests>', 'requests of a visitor in a minute (default: 60)', Number)
    .option(
      '--per-address <requests>',
      'requests of a network address in a minute (default: 600)',
      Number,
    )
    .option('--per-key <requests>', 'requests of all visitors in a minute (default: 6000)', Number)
    .action(async (options) =>
      (await import('../commands/publishable-keys')).runPublishableKeysCreate(options),
    );
  paged(ofKey(publishable.command('list')))
    .description("list the publishable keys of the key's environment")
    .action(async (options) =>
      (await import('../commands/publishable-keys')).runPublishableKeysList(options),
    );
  ofKey(publishable.command('revoke'))
    .description('revoke a publishable key; it and its sessions are refused within a second')
    .argument('<key>', 'id or key, as publishable-keys list shows them')
    .action(async (key, options) =>
      (await import('../commands/publishable-keys')).runPublishableKeysRevoke(key, options),
    );

  paged(ofKey(program.command('audit')))
    .helpGroup(groups.http)
    .description('list changes with who made them, newest first')
    .option('--action <action>', 'only entries with this action, such as api_key.created')
    .option('--actor <id>', 'only entries of this API key or person')
    .option('--target <id>', 'only entries about this resource')
    .action(async (options) => (await import('../commands/audit')).runAudit(options));

  withJson(program.command('login'))
    .helpGroup(groups.http)
    .description('store an address and an API key for commands that use the HTTP API')
    .option(
      '--key <source>',
      '- reads the key from standard input (default: a terminal asks); a key itself is not accepted',
    )
    .option('--url <address>', 'address of the gateway (default: PARLEY_URL, or the running stack)')
    .action(async (options) => (await import('../commands/login')).runLogin(options));
  withJson(program.command('logout'))
    .helpGroup(groups.http)
    .description('delete what login stored; the key stays valid')
    .action(async (options) => (await import('../commands/login')).runLogout(options));

  withJson(program.command('logs'))
    .helpGroup(groups.local)
    .description(
      'show the logs of the stack that npm start runs in this checkout; by default the last 200 lines',
    )
    .argument('[service]', 'only of this service, such as gateway or worker')
    .option('-f, --follow', 'continue with new lines until Ctrl-C')
    .option('--since <time>', 'all lines since a duration ago, such as 10m or 2h, or since a time')
    .option(
      '--state <folder>',
      'folder that npm start --state named (default: .parley of the checkout)',
    )
    .action(async (service, options) =>
      (await import('../commands/logs')).runLogs(service, options),
    );
  withJson(program.command('clean'))
    .helpGroup(groups.local)
    .description(
      'delete what npm start made on this machine: data, logs, built and copied programs',
    )
    .option('--yes', 'do not ask for confirmation')
    .option('--state <folder>', 'only the folder that npm start --state named')
    .action(async (options) => (await import('../commands/clean')).runClean(options));
  withJson(program.command('doctor'))
    .helpGroup(groups.local)
    .description('check everything that Parley needs, and show how to fix problems')
    .option('--bundle <file>', 'also write an archive for support (.tar.gz), without secrets')
    .action(async (options) => (await import('../commands/doctor')).runDoctor(options));
  withJson(program.command('completion'))
    .helpGroup(groups.local)
    .description('print a completion script; for bash: source <(parley completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell, options) =>
      (await import('../commands/completion')).runCompletion(shell, options),
    );
  // The completion scripts call this command.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completionsOf } = await import('../commands/completion');
      const { builtInToolNames } = await import('@parley/tools');
      for (const name of completionsOf(program, words, builtInToolNames)) print(name);
    });
}
