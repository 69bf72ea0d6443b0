import { Argument, type Command } from 'commander';
import { groups, inScope, ofOrganization, paged, wholeSeconds, withJson } from '../options';
import { print } from '../terminal';

/** Installing and running Parley: the database, organizations, keys. */
export function addOperationCommands(program: Command): void {
  withJson(program.command('migrate'))
    .helpGroup(groups.database)
    .description('bring the database to this version')
    .option('--check', 'only say whether it is; status 1 when not')
    .option('--wait <seconds>', 'wait so long for the database and, with --check, for its migrations', wholeSeconds)
    .action(async (options) => (await import('../commands/migrate')).runMigrate(options));

  withJson(program.command('demo'))
    .helpGroup(groups.database)
    .description('make the demo organization with its agent and data, once')
    .option('--new-key', 'make another development key')
    .action(async (options) => (await import('../commands/demo')).runDemo(options));

  const org = program.command('org').helpGroup(groups.database).description('organizations');
  withJson(org.command('create'))
    .description('make an organization')
    .requiredOption('--slug <slug>', 'its short name')
    .requiredOption('--name <name>', 'its name for people')
    .action(async (options) => (await import('../commands/org-create')).runOrgCreate(options));
  withJson(org.command('list'))
    .description('list organizations')
    .action(async (options) => (await import('../commands/org-list')).runOrgList(options));
  paged(withJson(org.command('purges')))
    .description('organizations that were deleted at the identity provider, and what was deleted with them')
    .option('--org <slug>', 'only that of this organization; its slug, its id or that of the identity provider')
    .option('--stop <slug>', 'stop the unsigned deletion of this organization (slug or id)')
    .action(async (options) => (await import('../commands/org-purges')).runOrgPurges(options));

  const types = program.command('types').helpGroup(groups.database).description('entity types');
  inScope(types.command('list'))
    .description('list the types, what is searched of each, and how far its reindexing has come')
    .action(async (options) => (await import('../commands/types-list')).runTypesList(options));

  const secrets = program.command('secrets').helpGroup(groups.database).description('secrets that are kept encrypted');
  withJson(secrets.command('rotate'))
    .description('seal everything under the first key of SECRETS_KEY')
    .action(async (options) => (await import('../commands/secrets-rotate')).runSecretsRotate(options));

  const keys = program.command('keys').helpGroup(groups.database).description('API keys');
  ofOrganization(keys.command('create'))
    .description('make a key; only the key is printed on stdout')
    .requiredOption('--env <environment>', 'development or production')
    .requiredOption('--permissions <list>', 'chat, data, sync, separated by commas, or *')
    .requiredOption('--name <name>', 'what it is for')
    .option('--role <slug>', 'role that the Data API applies')
    .option('--expires <when>', '30d, 12h, 2w or a date')
    .action(async (options) => (await import('../commands/keys-create')).runKeysCreate(options));
  ofOrganization(keys.command('list'))
    .description('list the keys of an organization')
    .action(async (options) => (await import('../commands/keys-list')).runKeysList(options));
  ofOrganization(keys.command('revoke'))
    .description('end a key')
    .argument('<id|prefix>', 'as keys list shows it')
    .action(async (key, options) => (await import('../commands/keys-revoke')).runKeysRevoke(key, options));

  withJson(program.command('doctor'))
    .helpGroup(groups.local)
    .description('look at everything that Parley needs, and say how to fix it')
    .action(async (options) => (await import('../commands/doctor')).runDoctor(options));
  withJson(program.command('completion'))
    .helpGroup(groups.local)
    .description('what a shell is to source: source <(parley completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell, options) => (await import('../commands/completion')).runCompletion(shell, options));
  // What those scripts ask.
  program
    .command('complete', { hidden: true })
    .argument('[words...]')
    .action(async (words: string[]) => {
      const { completionsOf } = await import('../commands/completion');
      for (const name of completionsOf(program, words)) print(name);
    });
}
