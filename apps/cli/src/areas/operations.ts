import { Argument, type Command } from 'commander';
import { groups, inScope, ofOrganization, paged, wholeSeconds, withJson } from '../options';
import { print } from '../terminal';

/** Commands that install and operate Parley: the database, organizations, keys. */
export function addOperationCommands(program: Command): void {
  withJson(program.command('migrate'))
    .helpGroup(groups.database)
    .description('apply missing migrations to the database')
    .option('--check', 'apply nothing; exit with status 1 if a migration is missing')
    .option('--wait <seconds>', 'wait for the database and, with --check, for its migrations', wholeSeconds)
    .action(async (options) => (await import('../commands/migrate')).runMigrate(options));

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
    .option('--org <slug>', 'report of one organization, by its slug, its id or its id at the identity provider')
    .option('--stop <slug>', 'stop the unsigned deletion of an organization, by its slug or id')
    .action(async (options) => (await import('../commands/org-purges')).runOrgPurges(options));

  const types = program.command('types').helpGroup(groups.database).description('entity types');
  inScope(types.command('list'))
    .description('list entity types with their search fields and the progress of reindexing')
    .action(async (options) => (await import('../commands/types-list')).runTypesList(options));

  const secrets = program.command('secrets').helpGroup(groups.database).description('encryption of stored secrets');
  withJson(secrets.command('rotate'))
    .description('re-encrypt all secrets with the first key of SECRETS_KEY')
    .action(async (options) => (await import('../commands/secrets-rotate')).runSecretsRotate(options));

  const keys = program.command('keys').helpGroup(groups.database).description('API keys');
  ofOrganization(keys.command('create'))
    .description('create a key and print it; it cannot be shown again')
    .requiredOption('--env <environment>', 'development or production')
    .requiredOption('--permissions <list>', 'chat, data and sync, separated by commas, or *')
    .requiredOption('--name <name>', 'name that keys list shows')
    .option('--role <slug>', 'limit the key to what this role allows')
    .option('--expires <when>', 'duration such as 30d, 12h or 2w, or a date')
    .action(async (options) => (await import('../commands/keys-create')).runKeysCreate(options));
  ofOrganization(keys.command('list'))
    .description('list the keys of an organization')
    .action(async (options) => (await import('../commands/keys-list')).runKeysList(options));
  ofOrganization(keys.command('revoke'))
    .description('revoke a key; requests with it are refused within a second')
    .argument('<key>', 'id or prefix, as keys list shows it, or the whole key; - reads it from stdin')
    .action(async (key, options) => (await import('../commands/keys-revoke')).runKeysRevoke(key, options));

  withJson(program.command('doctor'))
    .helpGroup(groups.local)
    .description('check everything that Parley needs, and show how to fix problems')
    .action(async (options) => (await import('../commands/doctor')).runDoctor(options));
  withJson(program.command('completion'))
    .helpGroup(groups.local)
    .description('print a completion script; for bash: source <(parley completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell, options) => (await import('../commands/completion')).runCompletion(shell, options));
  // The completion scripts call this command.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completionsOf } = await import('../commands/completion');
      for (const name of completionsOf(program, words)) print(name);
    });
}
